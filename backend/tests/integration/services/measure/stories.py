"""Runs as stories with known figures, for the tests of metrics."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import pytest

from app.core.intervals import wilson
from app.schemas.api.metrics import MetricShare
from app.schemas.api.run_lists import RunQuery
from app.services.record.phase_outcomes import keep_outcomes
from tests.integration.services.support import UseCases

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
GAVE_UP = ("attempts_exhausted", "no_progress", "budget_exhausted")
TROUBLE = ("agent_unavailable", "evaluator_unavailable", "worker_lost")


@dataclass
class Story:
    """One run as it went: for each phase the attempts' verdicts, and who was asked after which attempt.

    `steered` is the first attempt of a phase that a person told something.
    """

    status: str
    phases: dict[str, list[str]]
    asked: list[tuple[str, int, str]] = field(default_factory=list)
    planned: tuple[str, ...] = ("coding", "verification")
    steered: dict[str, int] = field(default_factory=dict)
    id: UUID | None = None

    def alone(self, phase: str) -> list[str]:
        verdicts = self.phases.get(phase, [])
        return verdicts[: self.steered.get(phase, len(verdicts) + 1) - 1]

    def judged(self, phase: str) -> int:
        return len([each for each in self.alone(phase) if each in ("passed", "failed")])

    def helped_at(self, phase: str) -> int | None:
        after = [at for where, at, reason in self.asked if where == phase and reason in GAVE_UP]
        after = [at for at in after if at < self.steered.get(phase, at + 1)]
        return min(after) if after else None

    def passed_at(self, phase: str) -> int | None:
        verdicts = self.alone(phase)
        first = verdicts.index("passed") + 1 if "passed" in verdicts else None
        helped = self.helped_at(phase)
        return None if first is None or (helped is not None and first > helped) else first

    def pass_at(self, phase: str, k: int) -> bool | None:
        """Whether the phase passed within k attempts on its own; None when that is not known."""
        if self.judged(phase) == 0 and not any(where == phase for where, _, _ in self.asked):
            return None
        first = self.passed_at(phase)
        if first is not None:
            return first <= k
        return False if self.helped_at(phase) is not None or self.judged(phase) >= k else None

    def whole_pass_at(self, k: int) -> bool | None:
        every = [self.pass_at(phase, k) for phase in self.planned]
        return True if all(every) else False if False in every else None

    @property
    def over(self) -> bool:
        return self.status in ("completed", "failed")


STORIES: dict[str, Story] = {
    "nothing yet": Story("queued", {}),
    "first go": Story("completed", {"coding": ["passed"], "verification": ["passed"]}),
    "second go": Story("completed", {"coding": ["failed", "passed"], "verification": ["passed"]}),
    "under way": Story("active", {"coding": ["failed", "started"]}),
    "gave up": Story("waiting", {"coding": ["failed"] * 3}, [("coding", 3, "attempts_exhausted")]),
    "passed with help": Story(
        "completed",
        {"coding": ["failed"] * 3 + ["passed"], "verification": ["passed"]},
        [("coding", 3, "attempts_exhausted")],
    ),
    "stuck early": Story("failed", {"coding": ["failed", "failed"]}, [("coding", 2, "no_progress")]),
    "no key, then a pass": Story(
        "completed",
        {"coding": ["passed"], "verification": ["passed"]},
        [("coding", 1, "agent_unavailable")],
    ),
    "judged by nobody": Story("waiting", {"coding": ["produced"]}, [("coding", 1, "evaluator_unavailable")]),
    "no money for the second phase": Story(
        "waiting", {"coding": ["passed"]}, [("verification", 0, "budget_exhausted")]
    ),
    "cancelled": Story("cancelled", {"coding": ["failed"]}),
    "steered to a pass": Story(
        "completed", {"coding": ["failed", "passed"], "verification": ["passed"]}, steered={"coding": 2}
    ),
    "steered from the start": Story(
        "waiting", {"coding": ["failed"] * 3}, [("coding", 3, "attempts_exhausted")], steered={"coding": 1}
    ),
    "asked twice": Story(
        "failed",
        {"coding": ["failed", "failed"]},
        [("coding", 1, "worker_lost"), ("coding", 2, "no_progress")],
    ),
}


async def tell(cases: UseCases, story: Story, *, kept: bool = False, **values: Any) -> UUID:
    """Make the rows of a story; `kept` ends the run as the service does."""
    run_id = await cases.rows.run(status=story.status, phases=list(story.planned), **values)
    for phase, verdicts in story.phases.items():
        for number, status in enumerate(verdicts, 1):
            told = number == story.steered.get(phase)
            await cases.rows.attempt(run_id, number, phase=phase, status=status, steered=told)
    for index, (phase, attempt, reason) in enumerate(story.asked):
        is_open = story.status == "waiting" and index == len(story.asked) - 1
        answer = {} if is_open else resolved("retry", 60)
        await cases.rows.escalation(run_id, attempt, phase=phase, reason_kind=reason, **answer)
    story.id = run_id
    if kept and story.status in ("completed", "failed", "cancelled"):
        await keep(cases, run_id)
    return run_id


async def keep(cases: UseCases, run_id: UUID) -> None:
    async with cases.sessions.begin() as session:
        await keep_outcomes(session, run_id)


def resolved(decision: str, seconds: float) -> dict[str, Any]:
    at = {"created_at": START, "decided_at": START + timedelta(seconds=seconds)}
    return {"status": "resolved", "decision": decision, "decided_by": "ada", **at}


async def listed(cases: UseCases, query: str) -> set[UUID]:
    """The runs that a link lists."""
    found: dict[str, Any] = {
        name: values if name in ("kind", "project", "agent") else values[0]
        for name, values in parse_qs(query).items()
    }
    page = await cases.lists.page(RunQuery.model_validate({**found, "limit": 200}))
    return {each.id for each in page.items}


def shares(report: Any) -> Iterator[MetricShare]:
    """Every share of a report, wherever it is."""
    if isinstance(report, MetricShare):
        yield report
    elif isinstance(report, dict):
        for each in report.values():
            yield from shares(each)
    elif isinstance(report, list):
        for each in report:
            yield from shares(each)
    elif hasattr(report, "__pydantic_fields__"):
        for name in type(report).model_fields:
            yield from shares(getattr(report, name))


async def check(cases: UseCases, share: MetricShare, hit: set[UUID | None], every: set[UUID | None]) -> None:
    """The share counts these runs, and its links list them; each run is one case."""
    assert (share.count, share.of) == (len(hit), len(every))
    assert await listed(cases, share.counted) == hit
    assert await listed(cases, share.considered) == every
    if every:
        assert (share.low, share.high) == pytest.approx(wilson(len(hit), len(every)))
        assert share.value == len(hit) / len(every)
    else:
        assert (share.value, share.low, share.high) == (None, None, None)
