"""Every number of the metrics is the one that counting by hand gives, and lists exactly its runs."""

import random
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import null, select, text, update

from app.core.errors import InvalidInputError
from app.core.intervals import wilson
from app.db.migrate import alembic_config
from app.db.models import Evaluation, Run
from app.schemas.api.marks import MarkCreate
from app.schemas.api.metrics import MetricQuery, MetricShare, MetricsReport, Trend, TrendQuery
from app.schemas.api.run_lists import RunQuery
from app.services.measure.metrics import MetricsService
from app.services.measure.trends import MAX_POINTS, TrendService
from app.services.record.phase_outcomes import keep_outcomes
from app.services.review.marks import MarkService
from tests.integration.services.loop_support import NEVER, LoopEngine, Parts, succeeds_at
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
GAVE_UP = ("attempts_exhausted", "no_progress", "budget_exhausted")
TROUBLE = ("agent_unavailable", "evaluator_unavailable", "worker_lost")


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


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


async def check_all(cases: UseCases, report: MetricsReport, told: list[Story]) -> None:
    """Compare what SQL counted with what counting by hand gives."""

    def runs(found: Callable[[Story], bool | None]) -> set[UUID | None]:
        return {each.id for each in told if found(each)}

    for k in (1, 2, 3):
        whole = getattr(report.passes, f"pass_at_{k}")
        await check(
            cases, whole, runs(lambda s, k=k: s.whole_pass_at(k)),
            runs(lambda s, k=k: s.whole_pass_at(k) is not None),
        )  # fmt: skip
        for phase in report.phases:
            name = phase.phase
            await check(
                cases, getattr(phase.passes, f"pass_at_{k}"),
                runs(lambda s, n=name, k=k: s.pass_at(n, k)),
                runs(lambda s, n=name, k=k: s.pass_at(n, k) is not None),
            )  # fmt: skip
    await check(
        cases, report.escalations.rate, runs(lambda s: bool(s.asked)), runs(lambda s: bool(s.asked) or s.over)
    )
    for reason in (*GAVE_UP, *TROUBLE):
        await check(
            cases, report.escalations.reasons[reason],
            runs(lambda s, r=reason: any(r == each for _, _, each in s.asked)),
            runs(lambda s: bool(s.asked) or s.over),
        ) if reason in {r for s in told for _, _, r in s.asked} else None  # fmt: skip
    for phase in report.phases:
        name = phase.phase
        await check(
            cases, phase.retries.retried, runs(lambda s, n=name: s.judged(n) > 1),
            runs(lambda s, n=name: s.judged(n) > 0),
        )  # fmt: skip
        assert phase.retries.total == sum(max(each.judged(name) - 1, 0) for each in told)
        assert sum(phase.attempts.values()) == phase.retries.retried.of
    assert report.runs == len(told)
    assert report.over == len(runs(lambda s: s.over))


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "counted"])
@pytest.mark.parametrize("name", STORIES)
async def test_one_run(cases: UseCases, name: str, kept: bool) -> None:
    story = STORIES[name]
    await tell(cases, story, kept=kept)
    await check_all(cases, await MetricsService(cases.sessions).report(MetricQuery()), [story])


async def test_every_story_together(cases: UseCases) -> None:
    for story in STORIES.values():
        await tell(cases, story, kept=True)
    report = await MetricsService(cases.sessions).report(MetricQuery())
    await check_all(cases, report, list(STORIES.values()))
    at_1 = report.passes.pass_at_1
    assert (at_1.count, at_1.of) == (2, 11), "the first go, and the one whose key was missing at first"


@pytest.mark.parametrize("seed", range(3))
async def test_runs_that_went_in_any_way(cases: UseCases, seed: int) -> None:
    dice = random.Random(seed)
    told: list[Story] = []
    for _ in range(15):
        phases: dict[str, list[str]] = {}
        asked: list[tuple[str, int, str]] = []
        for phase in ("coding", "verification")[: dice.randint(0, 2)]:
            count = dice.randint(1, 5)
            phases[phase] = ["failed"] * (count - 1) + [dice.choice(["passed", "failed", "started"])]
            if dice.random() < 0.4:
                asked.append((phase, dice.randint(0, count), dice.choice([*GAVE_UP, *TROUBLE])))
        status = dice.choice(["active", "waiting", "completed", "failed", "cancelled"])
        told.append(Story(status, phases, asked))
        await tell(cases, told[-1], created_at=START + timedelta(days=dice.randint(0, 20)))
    counted = await measured(cases)
    await check_all(cases, counted[0], told)
    for at, story in enumerate(told):
        assert story.id is not None
        if story.status in ("completed", "failed", "cancelled"):
            await keep(cases, story.id)
        if at % 5 == 0:
            assert await measured(cases) == counted, "whatever of it is kept, the figures are the same"
    assert await measured(cases) == counted


async def measured(cases: UseCases) -> tuple[MetricsReport, MetricsReport, Trend]:
    """All reports and the trend, without the moment at which they were made."""
    service, week = MetricsService(cases.sessions), MetricQuery(since=START + timedelta(days=7))
    every, later = await service.report(MetricQuery()), await service.report(week)
    trend = await TrendService(cases.sessions).trend(TrendQuery())
    return every.model_copy(update={"at": START}), later.model_copy(update={"at": START}), trend


async def test_who_ends_a_run_keeps_what_became_of_it(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(evaluator=succeeds_at(2)))
    completed = (await engine.until_rest(await engine.start())).id
    engine.parts.evaluator = NEVER
    failed = (await engine.until_rest(await engine.start(max_iterations=3))).id
    asked = Story("waiting", {"coding": ["failed"] * 3}, [("coding", 3, "attempts_exhausted")])
    cancelled = await tell(cases, asked)
    await cases.cancels.cancel(cancelled, "", "ada")
    kept = {each: (await cases.rows.get(each)).outcomes for each in (completed, failed, cancelled)}
    assert kept == {
        completed: [["loop", 2, 2, False, False]],
        failed: [["loop", 3, None, False, False]],
        cancelled: [["coding", 3, None, True, True]],
    }
    waiting = await tell(cases, STORIES["gave up"])
    assert (await cases.rows.get(waiting)).outcomes is None, "it may go on"


async def test_runs_of_before_get_the_same(cases: UseCases, database_url: str) -> None:
    # When that migration ran, no attempt could be steered.
    for story in (each for each in STORIES.values() if not each.steered):
        await tell(cases, story, kept=True)
    every = select(Run.id, Run.outcomes)
    revision = ScriptDirectory.from_config(alembic_config(database_url)).get_revision("0011")
    async with cases.sessions.begin() as session:
        kept = {row[0]: row[1] for row in await session.execute(every)}
        await session.execute(update(Run).values(outcomes=null()))
        await session.execute(text(revision.module.FILL))
        assert {row[0]: row[1] for row in await session.execute(every)} == kept
    assert sum(each is None for each in kept.values()) == 5, "who is not over goes on"


async def test_no_data_is_null_and_never_zero(cases: UseCases) -> None:
    report = await MetricsService(cases.sessions).report(MetricQuery())
    every = list(shares(report))
    assert len(every) >= 14
    assert all((each.value, each.low, each.high, each.of) == (None, None, None, 0) for each in every)
    assert (report.runs, report.phases, report.evaluators, report.retries.mean) == (0, [], [], None)
    assert report.escalations.time_to_decision.model_dump() == {"n": 0, "p50_ms": None, "p95_ms": None}
    assert report.spend.cost_usd.model_dump() == {"n": 0, "total": None, "p50": None, "p95": None}
    assert (await TrendService(cases.sessions).trend(TrendQuery())).points == []


SCOPES: dict[str, tuple[dict[str, Any], int]] = {
    "all": ({}, 2),
    "since": ({"since": START + timedelta(days=1)}, 1),
    "until": ({"until": START + timedelta(days=1)}, 1),
    "project": ({"project": ["/home/me/a & b"]}, 1),
    "agent": ({"agent": ["pydantic-ai openai:m"]}, 1),
    "kind": ({"kind": ["sprint"]}, 2),
    "another project": ({"project": ["/elsewhere"]}, 0),
}


@pytest.mark.parametrize(("scope", "runs"), SCOPES.values(), ids=SCOPES.keys())
async def test_what_is_measured_can_be_narrowed(cases: UseCases, scope: dict[str, Any], runs: int) -> None:
    here = {"kind": "local", "location": "/home/me/a & b"}
    first, second = STORIES["gave up"], STORIES["second go"]
    await tell(cases, first, created_at=START, source=here)
    agent = {"backend": "auto", "model": "openai:m"}
    await tell(cases, second, created_at=START + timedelta(days=1), agent=agent)
    report = await MetricsService(cases.sessions).report(MetricQuery.model_validate(scope))
    assert report.runs == runs
    for share in shares(report):
        assert len(await listed(cases, share.considered)) <= runs, "links stay within the scope"
    listed_all = await listed(cases, "limit=200")
    assert {first.id, second.id} == listed_all
    assert sum(each.verdicts for each in report.evaluators) == {0: 0, 1: 3, 2: 6}[runs]


async def test_evaluators(cases: UseCases) -> None:
    marks, made = MarkService(cases.sessions), []
    values = [("passed", 100, True), ("passed", 300, True), ("failed", 200, True), ("errored", None, True)]
    for status, took, gate in [*values, ("skipped", 9999, False)]:
        run_id = await cases.rows.run()
        evaluation_id = await cases.rows.attempt(run_id)
        made.append((run_id, evaluation_id))
        passed = status in ("passed", "skipped")
        change = {"status": status, "duration_ms": took, "passed": passed, "gate": gate}
        async with cases.sessions.begin() as session:
            await session.execute(update(Evaluation).where(Evaluation.id == evaluation_id).values(**change))
    await marks.mark(made[0][1], MarkCreate(was_right=False), "ada")
    await marks.mark(made[0][1], MarkCreate(was_right=True), "bob")
    await marks.mark(made[1][1], MarkCreate(was_right=False), "ada")
    await cases.rows.attempt(made[0][0], 2, evaluator="adviser")

    report = await MetricsService(cases.sessions).report(MetricQuery())
    found = {each.evaluator: each for each in report.evaluators}
    assert list(found) == ["adviser", "pytest"]
    one = found["pytest"]
    assert (one.verdicts, one.gate) == (5, True)
    assert one.latency.model_dump() == {"n": 3, "p50_ms": 200, "p95_ms": 300}
    every = {run for run, _ in made}
    await check(cases, one.passed, {made[0][0], made[1][0]}, every)
    await check(cases, one.failed, {made[2][0]}, every)
    await check(cases, one.errored, {made[3][0]}, every)
    await check(cases, one.skipped, {made[4][0]}, every)
    await check(cases, one.wrong_passes, {made[1][0]}, {made[0][0], made[1][0]})
    await check(cases, one.wrong_fails, set(), set())


async def test_decisions_and_spending(cases: UseCases) -> None:
    for decision, seconds in (("accept", 60), ("retry", 600), ("retry", 6000)):
        run_id = await cases.rows.run(
            status="completed", used_requests=1, used_input_tokens=10, used_cost_usd=seconds / 1000
        )
        await cases.rows.escalation(run_id, **resolved(decision, seconds))
    await cases.rows.run(status="failed", used_requests=2, used_input_tokens=90)
    scripted = await cases.rows.run(status="completed")
    await cases.rows.waiting()
    report = await MetricsService(cases.sessions).report(MetricQuery())
    asked = report.escalations
    assert asked.time_to_decision.model_dump() == {"n": 3, "p50_ms": 600_000, "p95_ms": 6_000_000}
    assert asked.open == 1
    assert [(name, each.count, each.of) for name, each in asked.decisions.items()] == [
        ("accept", 1, 3),
        ("retry", 2, 3),
        ("reject", 0, 3),
    ]
    assert len(await listed(cases, asked.decisions["retry"].counted)) == 2
    spend = report.spend
    assert (spend.cost_known.count, spend.cost_known.of) == (3, 4), "a cost that is not known is not zero"
    assert scripted not in await listed(cases, spend.cost_known.considered)
    assert spend.cost_usd.n == 3
    assert spend.cost_usd.total == pytest.approx(6.66)
    assert (spend.input_tokens.n, spend.input_tokens.p50, spend.input_tokens.total) == (4, 10, 120)


async def test_a_trend_has_gaps_where_nothing_was_measured(cases: UseCases) -> None:
    monday, later = START, START + timedelta(days=15)
    first, second = STORIES["first go"], STORIES["gave up"]
    await tell(cases, first, created_at=monday + timedelta(days=6, hours=23))
    await tell(cases, second, created_at=later)
    trend = await TrendService(cases.sessions).trend(TrendQuery())
    assert [each.start for each in trend.points] == [monday + timedelta(days=7 * n) for n in range(3)]
    assert [each.runs for each in trend.points] == [1, 0, 1]
    assert [each.pass_at_1.value for each in trend.points] == [1.0, None, 0.0]
    await check(cases, trend.points[0].pass_at_1, {first.id}, {first.id})
    await check(cases, trend.points[2].escalated, {second.id}, {second.id})
    days = await TrendService(cases.sessions).trend(TrendQuery.model_validate({"bucket": "day"}))
    assert len(days.points) == 10
    months = await TrendService(cases.sessions).trend(TrendQuery.model_validate({"bucket": "month"}))
    assert [each.start for each in months.points] == [datetime(2026, 3, 1, tzinfo=UTC)]


async def test_a_trend_of_too_many_points_is_refused(cases: UseCases) -> None:
    for days in (0, MAX_POINTS):
        await cases.rows.run(created_at=START + timedelta(days=days))
    with pytest.raises(InvalidInputError) as raised:
        await TrendService(cases.sessions).trend(TrendQuery.model_validate({"bucket": "day"}))
    assert raised.value.field == "bucket"


@pytest.mark.parametrize(
    "query",
    [
        {"metric": "wrong_passes"},
        {"metric": "verdict_failed"},
        {"metric": "escalated", "metric_key": "bored"},
        {"metric": "decided", "metric_key": "perhaps"},
    ],
    ids=lambda query: "-".join(query.values()),
)
async def test_numbers_that_there_are_not(cases: UseCases, query: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await cases.lists.page(RunQuery.model_validate(query))
    assert raised.value.field == "metric_key"
