"""A human's decision is recorded exactly once, with everything that follows from it."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError
from sqlalchemy import select

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.db.models import Attempt, VerdictMark
from app.runners.decision import CompletePhase, Fail, StartAttempt, decide
from app.schemas.api.escalations import EscalationQuery, EscalationResolve
from app.schemas.runs import EscalationDecision, RunPolicy
from app.services.record.history import load_memory, load_run
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


def answer(decision: str, **fields: Any) -> EscalationResolve:
    return EscalationResolve.model_validate({"decision": decision, **fields})


async def test_many_reviewers_at_once_and_exactly_one_wins(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    names = [f"reviewer {number}" for number in range(20)]
    answers = await at_once(
        *(
            cases.escalations.resolve(escalation_id, answer("retry" if index % 2 else "reject"), name)
            for index, name in enumerate(names)
        )
    )
    won = [each for each in answers if not isinstance(each, Exception)]
    lost = [each for each in answers if isinstance(each, ConflictError)]
    assert (len(won), len(lost)) == (1, 19)
    winner = won[0]
    for each in lost:
        assert each.extra["decided_by"] == winner.decided_by
        assert each.extra["decided_at"] == winner.decided_at.isoformat()
        assert each.extra["decision"] == winner.decision
        assert winner.decided_by in each.detail
    assert await cases.rows.events(run_id) == ["escalation.resolved", "workflow.status"]
    assert await cases.rows.jobs(run_id) == 1
    assert (await cases.escalations.get(escalation_id)).decided_by == winner.decided_by
    assert cases.bell.rung == [run_id]


FOLLOWS = {
    "accept": (EscalationDecision.ACCEPT, CompletePhase("coding", 3, accepted_by="ada")),
    "retry": (EscalationDecision.RETRY, StartAttempt("coding", 4)),
    "reject": (EscalationDecision.REJECT, Fail("coding was rejected", by="ada")),
}


@pytest.mark.parametrize(("decision", "expected"), FOLLOWS.values(), ids=FOLLOWS.keys())
async def test_what_the_engine_makes_of_it(
    cases: UseCases, decision: EscalationDecision, expected: object
) -> None:
    run_id = await cases.rows.run(status="waiting", status_reason="3 of 3 attempts failed")
    for number in (1, 2, 3):
        await cases.rows.attempt(run_id, number, fingerprint=str(number))
    escalation_id = await cases.rows.escalation(run_id, 3)
    view = await cases.escalations.resolve(escalation_id, answer(decision.value), "ada")
    assert (view.status, view.decision, view.version) == ("resolved", decision, 2)
    run = await cases.rows.get(run_id)
    assert (run.status, run.status_reason, run.version) == ("active", "", 2)
    async with cases.sessions() as session:
        recorded = await load_run(session, run_id)
    assert decide(recorded.history, recorded.policy) == expected


STUCK = {
    "agent has no key": {"status": "agent_failed", "agent_failures": 1, "needs_human": True},
    "agent failed too often": {"status": "agent_failed", "agent_failures": 4},
    "resting": {"status": "agent_failed", "not_before": datetime.now(UTC) + timedelta(days=1)},
    "evaluators without verdict": {"status": "produced", "evaluation_failures": 3},
    "workers died": {"status": "started", "lost_workers": 3},
}


@pytest.mark.parametrize("values", STUCK.values(), ids=STUCK.keys())
async def test_a_retry_gives_the_attempt_a_new_chance(cases: UseCases, values: dict[str, Any]) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting(verdict=None, score=None, **values)
    await cases.escalations.resolve(escalation_id, answer("retry"), "ada")
    async with cases.sessions() as session:
        attempt = (await session.scalars(select(Attempt).where(Attempt.run_id == run_id))).one()
        recorded = await load_run(session, run_id)
    counted = (attempt.agent_failures, attempt.evaluation_failures, attempt.lost_workers)
    assert (counted, attempt.needs_human, attempt.not_before) == ((0, 0, 0), False, None)
    following = decide(recorded.history, recorded.policy)
    assert getattr(following, "number", None) == 1, "the same attempt goes on"


async def test_nothing_to_accept(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting(head_commit=None, status="agent_failed")
    with pytest.raises(ConflictError, match="no output to accept") as raised:
        await cases.escalations.resolve(escalation_id, answer("accept"), "ada")
    assert raised.value.field == "decision"
    assert (await cases.rows.get(run_id)).status == "waiting"
    assert await cases.rows.events(run_id) == []
    assert await cases.rows.jobs(run_id) == 0


async def test_a_phase_that_could_not_begin_is_retried(cases: UseCases) -> None:
    run_id = await cases.rows.run(status="waiting")
    escalation_id = await cases.rows.escalation(run_id, 0, reason_kind="budget_exhausted")
    with pytest.raises(ConflictError):
        await cases.escalations.resolve(escalation_id, answer("accept"), "ada")
    view = await cases.escalations.resolve(escalation_id, answer("retry"), "ada")
    assert view.additional_attempts == 1


async def test_a_reviewer_who_saw_an_older_version(cases: UseCases) -> None:
    _, escalation_id, _ = await cases.rows.waiting()
    with pytest.raises(ConflictError, match="has version 1; you have seen 7") as raised:
        await cases.escalations.resolve(escalation_id, answer("reject", version=7), "ada")
    assert raised.value.field == "version"


async def test_an_escalation_of_a_cancelled_run(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    await cases.cancels.cancel(run_id, "", "bob")
    with pytest.raises(ConflictError, match="withdrawn"):
        await cases.escalations.resolve(escalation_id, answer("retry"), "ada")
    assert (await cases.rows.get(run_id)).status == "cancelled"


async def test_marks_are_kept_and_changed_by_their_author(cases: UseCases) -> None:
    run_id, escalation_id, evaluation_id = await cases.rows.waiting()
    mark = {"evaluation_id": str(evaluation_id), "was_right": False, "note": "flaky"}
    await cases.escalations.resolve(escalation_id, answer("retry", verdict_marks=[mark]), "ada")
    again = await cases.rows.escalation(run_id)
    mark = {**mark, "was_right": True}
    await cases.escalations.resolve(again, answer("retry", verdict_marks=[mark]), "ada")
    async with cases.sessions() as session:
        marks = (await session.scalars(select(VerdictMark))).all()
    assert [(each.was_right, each.marked_by) for each in marks] == [(True, "ada")]


async def test_a_mark_on_another_runs_evaluation_records_nothing(cases: UseCases) -> None:
    _, escalation_id, own = await cases.rows.waiting()
    _, _, foreign = await cases.rows.waiting()
    marks = [{"evaluation_id": str(each), "was_right": True} for each in (own, foreign)]
    with pytest.raises(InvalidInputError) as raised:
        await cases.escalations.resolve(escalation_id, answer("retry", verdict_marks=marks), "ada")
    assert raised.value.field == "verdict_marks.1.evaluation_id"
    assert await cases.rows.count("verdict_marks") == 0
    assert (await cases.escalations.get(escalation_id)).status == "open"


TAMPERED = {"evaluator": "protected_files", "details": {"tampered": ["tests/test_[a].py", "x" * 4000]}}


@pytest.mark.parametrize(
    ("values", "opened"),
    [
        pytest.param({"decision": "retry"}, ["docs"], id="a-retry-opens-nothing"),
        pytest.param(
            {"decision": "retry", "open_paths": ["tests", "docs"]}, ["docs", "tests"], id="but-what-it-says"
        ),
        pytest.param(
            {"decision": "accept"}, ["docs", "tests/test_[[]a].py"], id="accepting-opens-what-was-changed"
        ),
    ],
)
async def test_what_may_be_changed_afterwards(
    cases: UseCases, values: dict[str, Any], opened: list[str]
) -> None:
    run_id = await cases.rows.run(
        status="waiting", policy=RunPolicy(open_paths=("docs",)).model_dump(mode="json")
    )
    await cases.rows.attempt(run_id, **TAMPERED)
    escalation_id = await cases.rows.escalation(run_id)
    await cases.escalations.resolve(escalation_id, answer(**values), "ada")
    assert (await cases.rows.get(run_id)).policy["open_paths"] == opened
    async with cases.sessions() as session:
        memory = await load_memory(session, await load_run(session, run_id))
    assert any(opened[-1] in line for line in memory.guidance)


@pytest.mark.parametrize("pattern", ["/etc/*", "../x", "", "a\nb", "x" * 301])
def test_a_pattern_that_leads_out_of_the_workspace_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError, match="open_paths"):
        answer("retry", open_paths=[pattern])


async def test_pages_are_oldest_first_and_complete(cases: UseCases) -> None:
    at = datetime.now(UTC)
    made = []
    for number in range(5):
        run_id = await cases.rows.run(status="waiting")
        made.append(await cases.rows.escalation(run_id, created_at=at + timedelta(seconds=number // 2)))
    seen, cursor = [], None
    while True:
        page = await cases.escalations.page(EscalationQuery(status="open", limit=2, cursor=cursor))
        seen += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted(made)
    assert seen[-1] == made[-1]
    assert not (await cases.escalations.page(EscalationQuery(status="resolved", limit=2))).items


async def test_an_escalation_that_does_not_exist(cases: UseCases) -> None:
    with pytest.raises(NotFoundError):
        await cases.escalations.get(uuid4())
    with pytest.raises(NotFoundError):
        await cases.escalations.resolve(uuid4(), answer("reject"), "ada")
