"""Pausing and resuming: what is recorded, what is refused, and that a stopped worker writes nothing more."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from app.core.errors import ConflictError, NotFoundError
from app.core.event_frames import RunFrame
from app.db.models import Attempt
from app.jobs.queue import enqueue_advance
from app.realtime.store import Fence
from app.runners.decision import Wait, decide
from app.schemas.api.escalations import EscalationResolve
from app.schemas.api.run_lists import RunQuery
from app.schemas.runs import AttemptState, EscalationDecision, RunStatus
from app.services.chores.reconcile import Reconcile
from app.services.control.idempotency import IdempotencyService, Once
from app.services.record.history import load_run
from app.services.record.transactions import FencedOutError, Recorder
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def with_job(cases: UseCases, **values: Any) -> UUID:
    run_id = await cases.rows.run(**values)
    async with cases.sessions.begin() as session:
        await enqueue_advance(session, run_id)
    return run_id


async def only_attempt(cases: UseCases, run_id: UUID) -> Attempt:
    async with cases.sessions() as session:
        return (await session.scalars(select(Attempt).where(Attempt.run_id == run_id))).one()


async def test_a_paused_sprint_has_no_job_and_rests(cases: UseCases) -> None:
    run_id = await with_job(cases)
    paused = await cases.pauses.pause(run_id, "the model is being changed", "ada")
    assert paused.paused is not None
    assert (paused.paused.by, paused.paused.reason) == ("ada", "the model is being changed")
    assert paused.status is RunStatus.ACTIVE
    # Lists over HTTP and over the socket show it, too.
    (listed,) = (await cases.lists.page(RunQuery(q=str(run_id)))).items
    assert listed.paused == paused.paused
    assert RunFrame.of(listed).run.paused == paused.paused
    assert await cases.rows.jobs(run_id) == 0
    assert await Reconcile(cases.sessions)() == 0
    async with cases.sessions() as session:
        recorded = await load_run(session, run_id)
    assert decide(recorded.history, recorded.policy) == Wait()

    resumed = await cases.pauses.resume(run_id, "bob")
    assert resumed.paused is None
    assert await cases.rows.jobs(run_id) == 1
    assert await cases.rows.events(run_id) == ["run.paused", "run.resumed"]
    assert cases.bell.rung == [run_id, run_id]


WORKING = {
    "the agent works": (AttemptState.STARTED, AttemptState.AGENT_FAILED, ["attempt.interrupted"]),
    "it is judged": (AttemptState.EVALUATING, AttemptState.PRODUCED, ["attempt.interrupted"]),
    "the agent rests": (AttemptState.AGENT_FAILED, AttemptState.AGENT_FAILED, []),
    "it is judged already": (AttemptState.FAILED, AttemptState.FAILED, []),
}


@pytest.mark.parametrize(("before", "after", "told"), WORKING.values(), ids=WORKING.keys())
async def test_the_attempt_that_is_interrupted_is_not_used_up(
    cases: UseCases, before: AttemptState, after: AttemptState, told: list[str]
) -> None:
    run_id = await with_job(cases)
    await cases.rows.attempt(run_id, status=before)
    await cases.pauses.pause(run_id, "", "ada")
    attempt = await only_attempt(cases, run_id)
    assert (attempt.status, attempt.lost_workers, attempt.agent_failures) == (after, 0, 0)
    assert await cases.rows.events(run_id) == [*told, "run.paused"]


async def test_what_the_stopped_worker_wants_to_record_comes_too_late(cases: UseCases) -> None:
    run_id = await with_job(cases)
    recorder, fence = Recorder(cases.sessions, cases.bell), Fence(7, 0)
    assert await recorder.take(run_id, fence)
    await cases.pauses.pause(run_id, "", "ada")
    with pytest.raises(FencedOutError):
        async with recorder.open(run_id, fence):
            pass
    await cases.pauses.resume(run_id, "ada")
    with pytest.raises(FencedOutError, match="taken over"):
        async with recorder.open(run_id, fence):
            pass
    assert not await recorder.take(run_id, fence)


async def test_a_job_that_is_left_finds_nothing_to_record(cases: UseCases) -> None:
    run_id = await with_job(cases)
    await cases.pauses.pause(run_id, "", "ada")
    recorder, later = Recorder(cases.sessions, cases.bell), Fence(99, 0)
    assert await recorder.take(run_id, later)
    with pytest.raises(FencedOutError, match="is paused"):
        async with recorder.open(run_id, later):
            pass


async def test_a_decision_during_a_pause_takes_effect_when_it_ends(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    await cases.pauses.pause(run_id, "", "ada")
    answer = EscalationResolve(decision=EscalationDecision.RETRY)
    await cases.escalations.resolve(escalation_id, answer, "eve")
    assert await cases.rows.jobs(run_id) == 0
    assert (await cases.rows.get(run_id)).status == RunStatus.ACTIVE
    await cases.pauses.resume(run_id, "ada")
    assert await cases.rows.jobs(run_id) == 1


async def test_one_that_waits_for_a_human_still_waits_when_it_is_resumed(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    await cases.pauses.pause(run_id, "", "ada")
    resumed = await cases.pauses.resume(run_id, "ada")
    assert (resumed.status, resumed.escalation_id) == (RunStatus.WAITING, escalation_id)
    assert await cases.rows.jobs(run_id) == 0


async def test_a_paused_sprint_can_be_cancelled(cases: UseCases) -> None:
    run_id = await with_job(cases)
    await cases.pauses.pause(run_id, "", "ada")
    cancelled = await cases.cancels.cancel(run_id, "", "ada")
    assert (cancelled.status, cancelled.paused) == (RunStatus.CANCELLED, None)


REFUSED = {
    "over": (
        {"status": "completed", "finished_at": datetime(2026, 3, 1, tzinfo=UTC)},
        "completed since 2026",
    ),
    "cancelled": ({"status": "cancelled"}, "the sprint is cancelled"),
}


@pytest.mark.parametrize(("values", "told"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_sprint_that_is_over(cases: UseCases, values: dict[str, Any], told: str) -> None:
    run_id = await cases.rows.run(**values)
    for act in (cases.pauses.pause(run_id, "", "ada"), cases.pauses.resume(run_id, "ada")):
        with pytest.raises(ConflictError, match=told) as raised:
            await act
        assert raised.value.extra == {"run_status": values["status"], "paused": False}
    assert await cases.rows.events(run_id) == []


async def test_refusals_say_the_state(cases: UseCases) -> None:
    run_id = await with_job(cases)
    with pytest.raises(ConflictError, match="active and not paused"):
        await cases.pauses.resume(run_id, "ada")
    await cases.pauses.pause(run_id, "", "ada")
    with pytest.raises(ConflictError, match=r"paused since .* UTC by ada"):
        await cases.pauses.pause(run_id, "", "bob")
    with pytest.raises(NotFoundError):
        await cases.pauses.pause(uuid4(), "", "ada")


async def test_of_many_at_once_one_pauses(cases: UseCases) -> None:
    run_id = await with_job(cases)
    answers = await at_once(*(cases.pauses.pause(run_id, "", name) for name in ("ada", "bob", "eve")))
    assert sum(isinstance(each, ConflictError) for each in answers) == 2
    assert await cases.rows.events(run_id) == ["run.paused"]


async def test_a_repeated_request_gets_the_same_answer(cases: UseCases) -> None:
    run_id = await with_job(cases)
    repeats, key = IdempotencyService(cases.sessions), Once("a key", "POST pause", b"digest")

    async def pause() -> Any:
        return await repeats.once(key, lambda once: cases.pauses.pause(run_id, "", "ada", once))

    first = await pause()
    await cases.pauses.resume(run_id, "ada")
    second = await pause()
    assert (second.repeated, second.body) == (True, first.body)
    assert (await cases.rows.get(run_id)).paused_at is None
