"""Director-evaluator loops as runs: how they end, and that no worker's death loses anything of them."""

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import ConflictError, InvalidInputError, NotFoundError, WorkspaceError
from app.runners.loop.roles import RoleTask, Trouble
from app.schemas.api.escalations import EscalationResolve
from app.schemas.api.loops import LoopCreate, LoopDetail
from app.schemas.loop.results import FailureReason, LoopEnd, ScriptOutput, TaskResult, TaskStatus
from app.schemas.runs import EscalationReason, RunKind
from tests.integration.services.loop_support import (
    NEVER,
    KilledError,
    LoopEngine,
    Parts,
    Work,
    definition,
    draft,
    judged,
    succeeds_at,
)
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


WHY = {
    LoopEnd.SUCCESS: "the evaluator is satisfied",
    LoopEnd.MAXIMUM: "3 of 3 iterations had no success",
    LoopEnd.CONDITION: "the condition to stop is met",
}


@pytest.mark.parametrize(
    ("evaluate", "condition", "status", "end", "iterations"),
    [
        pytest.param(succeeds_at(1), None, "completed", LoopEnd.SUCCESS, 1, id="success at once"),
        pytest.param(succeeds_at(3), None, "completed", LoopEnd.SUCCESS, 3, id="success at the last"),
        pytest.param(NEVER, None, "failed", LoopEnd.MAXIMUM, 3, id="never"),
        pytest.param(NEVER, "iteration === 2", "completed", LoopEnd.CONDITION, 2, id="the condition"),
    ],
)
async def test_how_loops_end(
    cases: UseCases, evaluate: Work, condition: str | None, status: str, end: LoopEnd, iterations: int
) -> None:
    ending = {"termination_condition": {"condition": condition}} if condition else {}
    engine = LoopEngine(cases, Parts(evaluator=evaluate))
    loop = await engine.until_rest(await engine.start(max_iterations=3, **ending))
    assert loop.status == status
    assert loop.result is not None
    assert (loop.result.ended_by, loop.result.iterations_completed) == (end, iterations)
    assert loop.result.success is (end is LoopEnd.SUCCESS)
    assert loop.result.final_output == f"draft {iterations}"
    assert [each.iteration for each in loop.iterations] == list(range(1, iterations + 1))
    assert all(each.output and each.evaluation and each.completed_at for each in loop.iterations)
    assert loop.iterations[0].notes == {"step": 1}
    assert loop.usage.requests == 2 * iterations
    assert loop.usage.cost_usd == 0.5 * iterations
    assert loop.status_reason == WHY[end]


async def test_every_step_is_told(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts())
    run_id = await engine.start(script_execution={"command": "run"})
    await engine.until_rest(run_id)
    told = await cases.rows.events(run_id)
    iteration = [
        "attempt.started",
        "iteration.started",
        "attempt.produced",
        "iteration.directed",
        "iteration.scripted",
        "evaluation.started",
        "evaluation.completed",
        "iteration.completed",
    ]
    begin = ["run.created", "workflow.started", "phase.started"]
    assert told == [*begin, *iteration, *iteration, "phase.completed", "workflow.completed"]


async def test_later_iterations_see_what_the_earlier_ones_left(cases: UseCases) -> None:
    parts = Parts(evaluator=succeeds_at(3))
    engine = LoopEngine(cases, parts)
    sources = ["user_query", "evaluation_feedback", "previous_results", "script_output", "topic"]
    director = {
        "description": "On {{topic}}",
        "inputs": [{"name": f"a_{each}", "from": each} for each in sources],
    }
    run_id = await engine.start(
        inputs={"topic": "stacks"},
        query="Why?",
        director=director,
        script_execution={"command": "run"},
        evaluator={"description": "Judge", "inputs": [{"name": "solution", "from": "director_result"}]},
    )
    loop = await engine.until_rest(run_id)
    third = [each for each in parts.tasks if each.role == "director"][2]
    assert third.description == "On stacks"
    assert (third.inputs["a_user_query"], third.inputs["a_topic"]) == ("Why?", "stacks")
    assert third.inputs["a_evaluation_feedback"] == "say more"
    assert "Output: draft 1" in third.inputs["a_previous_results"]
    assert '"stdout":"draft 2"' in third.inputs["a_script_output"]
    assert '"step": 2' in third.context
    assert loop.iterations[2].context == third.context
    assert [each.stdin for each in parts.scripts] == ["draft 1", "draft 2", "draft 3"]
    assert parts.tasks[1].inputs == {"solution": "draft 1"}
    assert loop.goal == "Why?"


def _plain(loop: LoopDetail) -> list[dict[str, Any]]:
    """What of the history does not depend on when it happened."""
    moving = {"started_at", "completed_at", "lost_workers", "times"}
    return [each.model_dump(mode="json", exclude=moving) for each in loop.iterations]


async def test_a_worker_may_die_at_any_transaction(cases: UseCases) -> None:
    calm_parts = Parts()
    calm_engine = LoopEngine(cases, calm_parts)
    calm = await calm_engine.until_rest(await calm_engine.start(script_execution={"command": "run"}))
    total = calm_engine.recorder.opened
    assert total >= 10
    for at in range(1, total + 1):
        for moment in ("before", "after"):
            parts = Parts()
            engine = LoopEngine(cases, parts)
            run_id = await engine.start(script_execution={"command": "run"})
            engine.recorder.dies_at = (at, moment)
            with pytest.raises(KilledError):
                await engine.advance(run_id)
            before = await cases.loops.get(run_id)
            asked, ran = Counter(parts.asked("director")), len(parts.scripts)
            loop = await engine.until_rest(run_id)
            place = f"{moment} transaction {at}"
            assert (loop.status, _plain(loop)) == ("completed", _plain(calm)), place
            again = Counter(parts.asked("director")) - asked
            for each in before.iterations:
                if each.output is not None:
                    assert each.iteration not in again, f"{place}: director {each.iteration} ran again"
            recorded = sum(each.script_output is not None for each in before.iterations)
            assert len(parts.scripts) - ran == 2 - recorded, place
            assert loop.usage.requests == calm.usage.requests, place
            told = Counter(await cases.rows.events(run_id))
            once = ["attempt.produced", "iteration.directed", "iteration.scripted", "iteration.completed"]
            assert [told[each] for each in once] == [2, 2, 2, 2], place


async def test_after_three_deaths_on_one_iteration_a_human_is_asked(cases: UseCases) -> None:
    def dies(_: Any) -> TaskResult:
        raise KilledError

    engine = LoopEngine(cases, Parts(director=dies))
    run_id = await engine.start()
    for _ in range(3):
        with pytest.raises(KilledError):
            await engine.advance(run_id)
    loop = await engine.until_rest(run_id)
    assert loop.status == "waiting"
    assert loop.escalations[0].reason_kind is EscalationReason.WORKER_LOST


def fails_later(task: RoleTask) -> TaskResult:
    if task.iteration == 1:
        return TaskResult(content="draft 1")
    return TaskResult(content="", status=TaskStatus.FAILED)


@pytest.mark.parametrize(
    ("parts", "changed", "reason", "outputs"),
    [
        pytest.param(
            Parts(
                director=lambda _: Trouble(FailureReason.EXECUTION_HALTED, "No key: set ANTHROPIC_API_KEY")
            ),
            {},
            FailureReason.EXECUTION_HALTED,
            [None],
            id="no key",
        ),
        pytest.param(
            Parts(
                director=lambda task: (
                    draft(task) if task.iteration == 1 else TaskResult(content="", status=TaskStatus.FAILED)
                )
            ),
            {},
            FailureReason.UNEXPECTED_ERROR,
            ["draft 1", None],
            id="a director that fails later",
        ),
        pytest.param(
            Parts(evaluator=lambda _: TaskResult(content="no notes")),
            {},
            FailureReason.OUTPUT_FORMAT_FAILURE,
            ["draft 1"],
            id="an evaluator without a verdict",
        ),
        pytest.param(
            Parts(script=Trouble(FailureReason.EXECUTION_TIMEOUT, "too slow")),
            {"script_execution": {"command": "run"}},
            FailureReason.EXECUTION_TIMEOUT,
            ["draft 1"],
            id="a script that does not end",
        ),
        pytest.param(
            Parts(trouble=WorkspaceError("no room")),
            {},
            FailureReason.CONTEXT_RETRIEVAL_FAILURE,
            [None],
            id="no workspace",
        ),
    ],
)
async def test_an_execution_error_ends_the_loop_and_loses_nothing(
    cases: UseCases,
    parts: Parts,
    changed: dict[str, Any],
    reason: FailureReason,
    outputs: Sequence[str | None],
) -> None:
    engine = LoopEngine(cases, parts)
    run_id = await engine.start(**changed)
    loop = await engine.until_rest(run_id)
    assert loop.status == "failed"
    assert loop.result is not None
    assert loop.result.ended_by is LoopEnd.ERROR
    assert loop.result.error is not None
    assert loop.result.error.type == "TASK_FAILURE"
    assert loop.result.error.reason is reason
    assert loop.status_reason == loop.result.error.message
    assert [each.output for each in loop.iterations] == list(outputs)
    assert (await cases.rows.events(run_id))[-3:] == ["iteration.failed", "phase.failed", "workflow.failed"]


async def test_a_director_that_needs_a_human_gets_one_and_is_told(cases: UseCases) -> None:
    def asks(task: Any) -> TaskResult:
        if task.iteration == 1:
            return TaskResult(content="Which database?", status=TaskStatus.WAITING)
        return TaskResult(content=f"use {task.inputs['guidance_by_a_human']}")

    engine = LoopEngine(cases, Parts(director=asks, evaluator=succeeds_at(1)))
    run_id = await engine.start()
    loop = await engine.until_rest(run_id)
    assert (loop.status, loop.status_reason) == ("waiting", "Which database?")
    asked = loop.escalations[0]
    assert asked.reason_kind is EscalationReason.HUMAN_ASKED
    answer = EscalationResolve.model_validate({"decision": "retry", "guidance": "Postgres"})
    await cases.escalations.resolve(asked.id, answer, "ada")
    loop = await engine.until_rest(run_id)
    assert loop.status == "completed"
    assert [each.output for each in loop.iterations] == ["Which database?", "use Postgres"]
    kept = await cases.queries.attempt(run_id, "loop", 2)
    assert kept.prompt.endswith("A human said:\nPostgres")


def waits(_: RoleTask) -> TaskResult:
    return TaskResult(content="half", status=TaskStatus.WAITING)


async def test_a_human_may_take_what_a_director_has(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=waits))
    run_id = await engine.start()
    asked = (await engine.until_rest(run_id)).escalations[0]
    await cases.escalations.resolve(asked.id, EscalationResolve.model_validate({"decision": "accept"}), "ada")
    loop = await engine.until_rest(run_id)
    assert loop.status == "completed"
    assert loop.result is not None
    assert (loop.result.final_output, loop.result.ended_by, loop.result.success) == ("half", None, False)
    assert loop.status_reason == "ada accepted it as it is"


async def test_a_loop_that_is_rejected_was_not_ended_by_its_maximum(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=waits))
    run_id = await engine.start(max_iterations=1)
    asked = (await engine.until_rest(run_id)).escalations[0]
    assert asked.kind is RunKind.DIRECTOR_LOOP
    await cases.escalations.resolve(asked.id, EscalationResolve.model_validate({"decision": "reject"}), "ada")
    loop = await engine.until_rest(run_id)
    assert loop.status == "failed"
    assert loop.result is not None
    assert (loop.result.final_output, loop.result.ended_by) == ("half", None)


async def test_a_budget_that_is_used_up_asks_a_human(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(evaluator=NEVER))
    loop = await engine.until_rest(await engine.start(budget={"tokens": 20}))
    assert loop.status == "waiting"
    assert loop.escalations[0].reason_kind is EscalationReason.BUDGET_EXHAUSTED
    assert len(loop.iterations) == 1


async def test_a_cancelled_loop_keeps_its_iterations(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts(director=waits))
    run_id = await engine.start()
    await engine.until_rest(run_id)
    loop = await cases.cancels.cancel(run_id, "enough", "ada", show=cases.loops.show)
    assert (loop.status, loop.status_reason) == ("cancelled", "enough")
    assert loop.escalations[0].status == "withdrawn"
    assert loop.result is not None
    assert (loop.result.final_output, loop.result.ended_by) == ("half", None)
    with pytest.raises(ConflictError, match="the loop is cancelled since"):
        await cases.cancels.cancel(run_id, "", "ada", show=cases.loops.show)


async def test_what_cannot_start_leaves_nothing(cases: UseCases) -> None:
    request = LoopCreate(definition=definition(description="On {{topic}}"))
    with pytest.raises(InvalidInputError, match="topic") as refused:
        await cases.loops.start(request, "ada")
    assert refused.value.field == "inputs"
    assert await cases.rows.count("runs") == 0


async def test_a_sprint_is_no_loop(cases: UseCases) -> None:
    sprint = await cases.rows.run()
    with pytest.raises(NotFoundError, match="is a sprint, not a loop"):
        await cases.loops.get(sprint)
    with pytest.raises(NotFoundError, match="is a sprint, not a loop"):
        await cases.cancels.cancel(sprint, "", "ada", show=cases.loops.show)
    assert (await cases.rows.get(sprint)).status == "active"


async def test_outputs_no_database_can_store_are_kept_visibly(cases: UseCases) -> None:
    parts = Parts(
        director=lambda _: TaskResult(content="a\0b \ud800", notes={"x": "\0"}),
        evaluator=lambda _: judged(True, feedback="\0"),
        script=ScriptOutput(stdout="\0", exitCode=0),
    )
    engine = LoopEngine(cases, parts)
    loop = await engine.until_rest(await engine.start(script_execution={"command": "run"}))
    assert loop.status == "completed"
    assert loop.iterations[0].output == "a␀b ?"


async def test_lists_and_the_common_views_show_loops(cases: UseCases) -> None:
    engine = LoopEngine(cases, Parts())
    run_id = await engine.start()
    await engine.until_rest(run_id)
    common = await cases.queries.get(run_id)
    assert (common.kind, common.status, common.phases[0].phase) == ("director_loop", "completed", "loop")
    assert [each.evaluations[0].passed for each in common.attempts] == [False, True]
    attempt = await cases.queries.attempt(run_id, "loop", 2)
    assert attempt.candidates[0].output == "draft 2"
    assert [each.id for each in await cases.queries.states([run_id])] == [run_id]
