"""Subtasks of loops as runs of their own: their results come back, and no death loses or doubles one."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.runners.loop.roles import RoleTask
from app.schemas.api.escalations import EscalationResolve
from app.schemas.api.loops import LoopDetail
from app.schemas.api.metrics import MetricQuery
from app.schemas.loop.results import LoopEnd, TaskResult, TaskStatus
from app.schemas.runs import EscalationReason
from app.services.chores.reconcile import Reconcile
from app.services.measure.metrics import MetricsService
from tests.integration.services.loop_support import (
    NEVER,
    USAGE,
    Came,
    KilledError,
    LoopEngine,
    Parts,
    succeeds_at,
)
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

MEASURE = "Measure it"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


def request(description: str = MEASURE, **more: Any) -> TaskResult:
    asked = {"type": "atomic", "description": description, **more}
    notes = {"subtask_request": asked}
    return TaskResult(content="first a subtask", status=TaskStatus.CONTINUATION, notes=notes, usage=USAGE)


def asks_once(task: RoleTask) -> TaskResult:
    """Ask for a subtask, and build on what came of it; in the subtask, measure."""
    if MEASURE in task.description:
        return TaskResult(content="45 kN", usage=USAGE)
    if "subtask_result" not in task.inputs:
        return request()
    return TaskResult(content=f"built on {'45 kN' in task.inputs['subtask_result']}", usage=USAGE)


async def only_subtask(cases: UseCases, run_id: UUID) -> LoopDetail:
    (node,) = (await cases.loops.get(run_id)).subtasks
    return await cases.loops.get(node.run_id)


async def test_a_subtask_is_a_run_whose_result_comes_back(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
    run_id = await engine.start()
    loop = await engine.until_all_rest(run_id)
    assert loop.result is not None
    assert (loop.status, loop.result.final_output) == ("completed", "built on True")
    (exchange,) = loop.iterations[0].exchanges
    assert exchange.subtask_request is not None
    assert exchange.result is not None
    assert exchange.result.content == "45 kN"
    assert exchange.result.notes["success"] is True
    subtask = await only_subtask(cases, run_id)
    assert (subtask.parent_run_id, exchange.run_id) == (run_id, subtask.id)
    assert (subtask.status, subtask.goal, subtask.max_attempts) == ("completed", MEASURE, 1)
    assert subtask.created_by == loop.created_by
    # Two calls of the director, one of the evaluator, and the two of the subtask.
    assert loop.usage.requests == 5
    assert loop.iterations[0].turns == 5
    told = await cases.rows.events(run_id)
    begin = ["run.created", "workflow.started", "phase.started", "attempt.started", "iteration.started"]
    middle = ["subtask.started", "subtask.completed", "attempt.produced", "iteration.directed"]
    assert told[: len(begin) + len(middle)] == [*begin, *middle]


def plain(loop: LoopDetail) -> list[dict[str, Any]]:
    """What of the history does not depend on when it happened, or which number a run has."""
    moving = {"started_at", "completed_at", "lost_workers", "times"}
    iterations = [each.model_dump(mode="json", exclude=moving) for each in loop.iterations]
    for each in iterations:
        for exchange in each["exchanges"]:
            assert exchange.pop("run_id")
    return iterations


async def test_a_worker_may_die_at_any_transaction_of_a_loop_and_its_subtask(cases: UseCases) -> None:
    calm_engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
    calm = await calm_engine.until_all_rest(await calm_engine.start())
    total = calm_engine.recorder.opened
    assert total >= 12
    for at in range(1, total + 1):
        for moment in ("before", "after"):
            engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
            run_id = await engine.start()
            engine.recorder.dies_at = (at, moment)
            with pytest.raises(KilledError):
                await engine.until_all_rest(run_id)
            loop = await engine.until_all_rest(run_id)
            place = f"{moment} transaction {at}"
            assert (loop.status, plain(loop)) == ("completed", plain(calm)), place
            assert len(loop.subtasks) == 1, place
            assert loop.usage.requests == calm.usage.requests, place
            told = await cases.rows.events(run_id)
            for once in ("subtask.started", "subtask.completed", "iteration.directed"):
                assert told.count(once) == 1, f"{place}: {once}"


async def test_a_loop_that_waits_for_its_subtask_has_no_job_until_that_is_over(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
    run_id = await engine.start()
    await engine.advance(run_id)
    assert (await cases.loops.get(run_id)).iterations[0].status == "delegated"
    subtask = await only_subtask(cases, run_id)
    jobs = text("DELETE FROM procrastinate_jobs RETURNING lock")
    lock = text("SELECT lock FROM procrastinate_jobs")
    async with cases.sessions.begin() as session:
        await session.execute(jobs)
    assert await Reconcile(cases.sessions)() == 1
    async with cases.sessions.begin() as session:
        assert (await session.scalars(jobs)).all() == [str(subtask.id)]
    await engine.advance(subtask.id)
    async with cases.sessions.begin() as session:
        assert (await session.scalars(lock)).all() == [str(run_id)]
        # Were that lost, somebody who looks for runs without a job finds it.
        await session.execute(jobs)
    assert await Reconcile(cases.sessions)() == 1


def asks_for_ever(task: RoleTask) -> TaskResult:
    level = task.inputs.get("level", "0")
    if "subtask_result" in task.inputs:
        return TaskResult(content=f"level {level}")
    return request("Go on to {{level}}", inputs={"level": str(int(level) + 1)})


async def test_subtasks_are_at_most_five_deep(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=asks_for_ever, evaluator=succeeds_at(1)))
    loop = await engine.until_all_rest(await engine.start())
    assert loop.status == "failed"
    depth, nodes = 0, loop.subtasks
    while nodes:
        depth, nodes = depth + 1, nodes[0].subtasks
    assert depth == 5
    assert loop.result is not None
    assert loop.result.error is not None
    assert loop.result.error.type == "TASK_FAILURE"
    assert loop.result.error.reason == "subtask_failure"
    assert "it would be at depth 6; the deepest allowed is 5" in loop.status_reason
    assert [each.output for each in loop.iterations] == ["first a subtask"]


async def test_a_task_that_asks_for_itself_is_refused(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=lambda _: request("  REFINE   it ")))
    loop = await engine.until_all_rest(await engine.start())
    assert loop.subtasks == []
    assert "a cycle" in loop.status_reason
    assert (await cases.rows.events(loop.id))[-3:] == ["iteration.failed", "phase.failed", "workflow.failed"]


async def test_a_subtask_has_what_is_left_of_the_budget(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
    run_id = await engine.start(budget={"tokens": 100, "cost_usd": 2.0})
    await engine.advance(run_id)
    budget = (await only_subtask(cases, run_id)).policy.budget
    assert (budget.tokens, budget.cost_usd) == (85, 1.75)
    loop = await engine.until_all_rest(run_id)
    assert loop.usage.input_tokens == 50


async def test_metrics_count_what_a_subtask_used_once(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
    await engine.until_all_rest(await engine.start())
    spent = (await MetricsService(cases.sessions).report(MetricQuery())).spend
    assert spent.cost_usd.total == 1.25


async def test_a_subtask_without_success_is_an_answer(cases: UseCases) -> None:
    def judges(task: RoleTask) -> Came:
        return (NEVER if MEASURE in str(task.inputs) else succeeds_at(1))(task)

    engine = LoopEngine(cases, Parts(director=asks_once, evaluator=judges))
    loop = await engine.until_all_rest(await engine.start())
    assert loop.status == "completed"
    result = loop.iterations[0].exchanges[0].result
    assert result is not None
    assert (result.notes["success"], result.notes["ended_by"]) == (False, LoopEnd.MAXIMUM.value)


def waits_below(task: RoleTask) -> TaskResult:
    if MEASURE in task.description:
        return TaskResult(content="Which unit?", status=TaskStatus.WAITING)
    return asks_once(task)


async def test_a_subtask_that_needs_a_human_gets_one_and_its_loop_waits(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=waits_below, evaluator=succeeds_at(1)))
    run_id = await engine.start()
    await engine.advance(run_id)
    await engine.advance((await only_subtask(cases, run_id)).id)
    subtask = await only_subtask(cases, run_id)
    assert subtask.status == "waiting"
    assert subtask.escalations[0].reason_kind is EscalationReason.HUMAN_ASKED
    await engine.advance(run_id)
    assert (await cases.loops.get(run_id)).iterations[0].status == "delegated"
    taken = EscalationResolve.model_validate({"decision": "accept"})
    await cases.escalations.resolve(subtask.escalations[0].id, taken, "ada")
    loop = await engine.until_all_rest(run_id)
    assert loop.status == "completed"
    result = loop.iterations[0].exchanges[0].result
    assert result is not None
    assert (result.content, result.notes["ended_by"]) == ("Which unit?", "accepted by a human")


@pytest.mark.parametrize("how", ["cancelled", "rejected"])
async def test_a_human_who_ends_a_subtask_ends_the_loop_that_asked(cases: UseCases, how: str) -> None:
    engine = LoopEngine(cases, Parts(director=waits_below))
    run_id = await engine.start()
    await engine.advance(run_id)
    await engine.advance((await only_subtask(cases, run_id)).id)
    subtask = await only_subtask(cases, run_id)
    if how == "cancelled":
        await cases.cancels.cancel(subtask.id, "not now", "ada", show=cases.loops.show)
    else:
        rejected = EscalationResolve.model_validate({"decision": "reject"})
        await cases.escalations.resolve(subtask.escalations[0].id, rejected, "ada")
    loop = await engine.until_all_rest(run_id)
    assert loop.status == "failed"
    why = "it was cancelled: not now" if how == "cancelled" else "it failed: loop was rejected"
    assert loop.status_reason == f"the subtask has no result: {why}"


async def test_what_is_done_to_a_loop_is_done_to_its_subtasks(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=asks_once, evaluator=succeeds_at(1)))
    run_id = await engine.start()
    await engine.advance(run_id)
    await cases.pauses.pause(run_id, "lunch", "ada")
    subtask = await only_subtask(cases, run_id)
    assert subtask.paused is not None
    assert subtask.paused.reason == "lunch"
    await cases.pauses.resume(run_id, "ada")
    assert (await only_subtask(cases, run_id)).paused is None
    await cases.cancels.cancel(run_id, "", "ada", show=cases.loops.show)
    subtask = await only_subtask(cases, run_id)
    assert (subtask.status, subtask.status_reason) == (
        "cancelled",
        "the loop that asked for it was cancelled",
    )
