"""Directors that ask for subtasks and evaluations: what runs, what it costs, and that nothing is lost."""

from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.runners.director_evaluator import DirectorEvaluator
from app.runners.loop.roles import LoopLimits, RoleTask, Trouble
from app.schemas.loop.results import (
    FailureReason,
    LoopEnd,
    LoopIteration,
    LoopResult,
    ResourceExhaustion,
    TaskFailure,
    TaskResult,
    TaskStatus,
)
from app.schemas.runs import Usage
from tests.unit.runners.loop.fakes import Came, Part, Work, definition, judged

pytestmark = pytest.mark.anyio

ONE = Usage(requests=1, input_tokens=10, output_tokens=1, cost_usd=0.5)


def asks(description: str, **more: Any) -> TaskResult:
    request = {"type": "atomic", "description": description, **more}
    return TaskResult(
        content="so far", status=TaskStatus.CONTINUATION, notes={"subtask_request": request}, usage=ONE
    )


def answer(content: str) -> TaskResult:
    return TaskResult(content=content, usage=ONE)


def bridge(task: RoleTask) -> Came:
    """Asks for the load first, and builds with what it is told."""
    if task.description == "Find the load":
        return answer("42 t")
    told = task.inputs.get("subtask_result")
    return answer(f"a bridge for {told}") if told else asks("Find the load")


def content(_: RoleTask) -> Came:
    return judged(True).model_copy(update={"usage": ONE})


async def run(
    director: Work, evaluator: Work = content, limits: LoopLimits | None = None, **changed: Any
) -> LoopResult:
    door = DirectorEvaluator(
        director=Part(director), evaluator=Part(evaluator), limits=limits or LoopLimits()
    )
    return await door.run(definition(**changed))


async def test_a_subtask_runs_and_its_result_comes_back() -> None:
    result = await run(bridge)
    assert result.success
    assert '"content":"42 t"' in result.final_output
    (iteration,) = result.iteration_history
    (exchange,) = iteration.exchanges
    assert exchange.subtask_request is not None
    assert exchange.subtask_request.description == "Find the load"
    assert exchange.result is not None
    assert exchange.result.notes == {
        "success": True, "feedback": "say more", "iterations": 1, "ended_by": "success",
    }  # fmt: skip
    assert LoopResult.model_validate_json(result.model_dump_json()) == result


async def test_what_subtasks_use_is_counted_once() -> None:
    result = await run(bridge)
    usage = result.iteration_history[0].usage
    # The director asked and answered; its subtask did and was judged; then the whole was judged.
    assert (usage.director, usage.evaluator, usage.subtasks) == (
        Usage.total([ONE, ONE]), ONE, Usage.total([ONE, ONE]),
    )  # fmt: skip
    assert result.usage == Usage.total([ONE] * 5)
    assert result.iteration_history[0].turns == 5


async def test_a_subtask_that_was_no_success_is_an_answer() -> None:
    result = await run(bridge, lambda task: judged("load" not in task.inputs.get("original_prompt", "")))
    assert result.success
    assert '"success":false' in result.final_output


async def test_an_error_of_a_subtask_ends_the_loop_and_loses_nothing() -> None:
    def director(task: RoleTask) -> Came:
        if task.description == "Find the load":
            return Trouble(FailureReason.EXECUTION_HALTED, "no key", usage=ONE)
        return asks("Find the load") if task.iteration == 2 else answer("a beam")

    result = await run(director, lambda _: judged(False))
    assert result.ended_by is LoopEnd.ERROR
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.SUBTASK_FAILURE
    assert "execution_halted): no key" in result.error.message
    first, second = result.iteration_history
    assert (first.output, second.output, len(second.exchanges)) == ("a beam", "so far", 1)
    assert second.usage.subtasks == ONE
    assert result.error.details.partial_results == [first, second]


async def test_a_subtask_that_needs_a_human_makes_the_loop_wait() -> None:
    def director(task: RoleTask) -> Came:
        if task.description == "Find the load":
            return TaskResult(content="which bridge?", status=TaskStatus.WAITING)
        return asks("Find the load")

    result = await run(director)
    assert (result.ended_by, result.error, result.success) == (LoopEnd.WAITING, None, False)


async def test_no_subtask_is_deeper_than_five() -> None:
    depths: list[int] = []

    def deeper(task: RoleTask) -> Came:
        depth = task.description.count("deeper")
        depths.append(depth)
        return asks("deeper " * (depth + 1))

    result = await run(deeper)
    assert max(depths) == 5
    assert isinstance(result.error, TaskFailure)
    assert "it would be at depth 6; the deepest allowed is 5" in result.error.message


async def test_a_cycle_is_refused() -> None:
    def director(task: RoleTask) -> Came:
        return asks("B" if task.description == "A" else "A")

    result = await run(director)
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.SUBTASK_FAILURE
    assert "the same task as the one at depth 1: a cycle" in result.error.message


async def test_subtasks_share_the_turns_of_the_loop() -> None:
    result = await run(bridge, limits=LoopLimits(turns=2))
    assert isinstance(result.error, TaskFailure)
    assert "(turns): 2 of 1 turns" in result.error.message
    result = await run(bridge, limits=LoopLimits(turns=4))
    assert isinstance(result.error, ResourceExhaustion)
    assert (result.error.used, result.error.limit) == (5, 4)
    assert (await run(bridge, limits=LoopLimits(turns=5))).success


async def test_a_director_that_only_asks_is_ended() -> None:
    def director(task: RoleTask) -> Came:
        earlier = task.inputs.get("earlier_results", "").count("subtask_request")
        told = "subtask_result" in task.inputs
        is_child = task.description.startswith("find ")
        return answer("found") if is_child else asks(f"find {earlier + told}")

    result = await run(director)
    assert isinstance(result.error, ResourceExhaustion)
    assert (result.error.resource, result.error.used, result.error.limit) == ("turns", 11, 10)
    assert len(result.iteration_history[0].exchanges) == 10


async def test_an_evaluation_in_between_is_done_and_told() -> None:
    def director(task: RoleTask) -> Came:
        if "evaluation_result" in task.inputs:
            return answer(task.inputs["evaluation_result"])
        request = {"type": "style", "criteria": "Is it terse?"}
        return TaskResult(
            content="a draft", status=TaskStatus.CONTINUATION, notes={"evaluation_request": request}
        )

    judging: list[RoleTask] = []

    def evaluator(task: RoleTask) -> Came:
        judging.append(task)
        return judged(len(judging) > 1).model_copy(update={"content": "too long", "usage": ONE})

    result = await run(director, evaluator)
    assert result.success
    assert "Is it terse?" in judging[0].description
    assert judging[0].inputs["target"] == "a draft"
    assert "too long" in result.final_output
    iteration = result.iteration_history[0]
    assert (iteration.turns, iteration.usage.evaluator) == (4, Usage.total([ONE, ONE]))


@pytest.mark.parametrize("notes", [{}, {"subtask_request": {"type": "shell", "description": "x"}}])
async def test_a_request_that_cannot_be_read_ends_the_loop(notes: dict[str, Any]) -> None:
    result = await run(lambda _: TaskResult(content="half", status=TaskStatus.CONTINUATION, notes=notes))
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.OUTPUT_FORMAT_FAILURE
    assert result.final_output == "half"


def crash(_: int) -> Came:
    raise RuntimeError("no work today")


def half(status: TaskStatus, **notes: Any) -> Came:
    return TaskResult(content="half", status=status, notes=notes)


WORK = {
    "answer": lambda number: answer(f"answer {number}"),
    "subtask": lambda number: asks(f"task {number % 7}"),
    "evaluation": lambda _: half(
        TaskStatus.CONTINUATION, evaluation_request={"type": "style", "criteria": "terse"}
    ),
    "crash": crash,
    "failed": lambda _: Trouble(FailureReason.EXECUTION_HALTED, "no key"),
    "malformed": lambda _: half(TaskStatus.CONTINUATION),
    "waiting": lambda _: half(TaskStatus.WAITING),
}


def turns_of(history: list[LoopIteration]) -> int:
    return sum(each.turns for each in history)


@settings(max_examples=200)
@given(
    st.integers(1, 4),
    st.integers(1, 30),
    st.lists(st.sampled_from(sorted(WORK)), min_size=1, max_size=12),
    st.data(),
)
def test_whatever_directors_ask_for_the_loop_ends_and_loses_nothing(
    maximum: int, turns: int, words: list[str], data: st.DataObject
) -> None:
    verdicts = data.draw(st.lists(st.booleans(), min_size=1, max_size=5))
    calls: list[str] = []

    def director(task: RoleTask) -> Came:
        calls.append("director")
        return WORK[words[len(calls) % len(words)]](len(calls))

    def evaluator(_: RoleTask) -> Came:
        calls.append("evaluator")
        return judged(verdicts[len(calls) % len(verdicts)])

    async def go() -> LoopResult:
        return await run(director, evaluator, LoopLimits(turns=turns), max_iterations=maximum)

    result = anyio.run(go)
    history = result.iteration_history
    assert 1 <= len(history) <= maximum
    assert [each.iteration for each in history] == list(range(1, len(history) + 1))
    assert len(calls) <= turns
    # Also those that crashed, and those of subtasks that failed.
    assert turns_of(history) == len(calls)
    assert all(each.output is not None and each.evaluation for each in history[:-1])
    if result.error is not None:
        assert result.error.details.partial_results == history
    assert (result.error is not None) is (result.ended_by is LoopEnd.ERROR)
    assert LoopResult.model_validate_json(result.model_dump_json()) == result
