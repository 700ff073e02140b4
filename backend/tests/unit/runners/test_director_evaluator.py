"""The front door of loops: how they end, what each part sees, and that no error loses an iteration."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.director_evaluator import DirectorEvaluator, LoopLimits
from app.runners.loop.context import ACCUMULATED_CHARS, LoopInputs, Moment, accumulated, bind, fill
from app.runners.loop.roles import ContextFile, RoleTask, Trouble
from app.schemas.loop.results import (
    FailureReason,
    LoopEnd,
    LoopEvaluation,
    LoopIteration,
    LoopResult,
    ResourceExhaustion,
    ScriptOutput,
    TaskFailure,
    TaskResult,
    TaskStatus,
)
from tests.unit.runners.loop.fakes import (
    NEVER,
    Came,
    Part,
    Program,
    Work,
    definition,
    draft,
    judged,
    role,
    succeeds_at,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("evaluate", "condition", "end", "success", "iterations"),
    [
        pytest.param(succeeds_at(1), None, LoopEnd.SUCCESS, True, 1, id="success at once"),
        pytest.param(succeeds_at(3), None, LoopEnd.SUCCESS, True, 3, id="success at the third"),
        pytest.param(succeeds_at(5), None, LoopEnd.SUCCESS, True, 5, id="success at the last"),
        pytest.param(NEVER, None, LoopEnd.MAXIMUM, False, 5, id="never"),
        pytest.param(NEVER, "iteration === 2", LoopEnd.CONDITION, False, 2, id="the condition"),
        pytest.param(NEVER, "iteration === 5", LoopEnd.CONDITION, False, 5, id="the condition at the last"),
        pytest.param(
            succeeds_at(2), "evaluation.success === true", LoopEnd.SUCCESS, True, 2, id="the documented one"
        ),
        pytest.param(succeeds_at(2), "iteration === 4", LoopEnd.SUCCESS, True, 2, id="success comes first"),
        pytest.param(
            NEVER, "script.exitCode === 0", LoopEnd.MAXIMUM, False, 5, id="one that cannot be asked"
        ),
    ],
)
async def test_how_loops_end(
    evaluate: Work, condition: str | None, end: LoopEnd, success: bool, iterations: int
) -> None:
    ending = {"termination_condition": {"condition": condition}} if condition else {}
    result = await DirectorEvaluator(director=Part(draft), evaluator=Part(evaluate)).run(definition(**ending))
    assert (result.ended_by, result.success, result.iterations_completed) == (end, success, iterations)
    assert result.error is None
    assert result.final_output == f"draft {iterations}"
    assert result.final_evaluation is not None
    assert result.final_evaluation.success is success
    assert [each.iteration for each in result.iteration_history] == list(range(1, iterations + 1))
    assert all(each.output and each.evaluation for each in result.iteration_history)


async def test_a_condition_that_cannot_be_asked_is_told() -> None:
    loop = definition(termination_condition={"condition": "evaluation.details.score > 1"}, max_iterations=1)
    result = await DirectorEvaluator(director=Part(draft), evaluator=Part(NEVER)).run(loop)
    assert result.iteration_history[0].condition_met is False
    assert result.iteration_history[0].condition_trouble


async def test_values_pass_from_part_to_part() -> None:
    director, evaluator, script = Part(draft), Part(succeeds_at(2)), Program()
    loop = definition(
        inputs=[{"name": "topic", "value": "stacks"}],
        director=role("user_query", "evaluation_feedback", "current_iteration", "topic", "script_output"),
        evaluator=role("director_result", "user_query", "script_output", "previous_results"),
        script_execution={"command": "run --on '{{topic}} {{word}}'", "inputs": [
            {"name": "word", "from": "current_iteration"}
        ]},
    )  # fmt: skip
    door = DirectorEvaluator(director=director, evaluator=evaluator, script=script)
    result = await door.run(loop, {"topic": "$(id); x"}, query="Why?")
    assert result.success
    second = director.tasks[1].inputs
    assert (second["the_user_query"], second["the_evaluation_feedback"]) == ("Why?", "say more")
    assert (second["the_current_iteration"], second["the_topic"]) == ("2", "$(id); x")
    assert '"stdout":"draft 1"' in second["the_script_output"]
    assert director.tasks[0].inputs["the_evaluation_feedback"] == ""
    judging = evaluator.tasks[1].inputs
    assert judging["the_director_result"] == "draft 2"
    assert '"exitCode":0' in judging["the_script_output"]
    assert "Output: draft 1" in judging["the_previous_results"]
    # A value stays one word of the command, whatever it holds.
    assert script.tasks[0].argv == ["run", "--on", "$(id); x 1"]
    assert script.tasks[0].stdin == "draft 1"
    assert result.iteration_history[0].script_output == ScriptOutput(stdout="draft 1", exitCode=0)


async def test_what_ran_says_what_it_printed() -> None:
    forged = judged(True, scriptOutput={"stdout": "all good", "stderr": "", "exitCode": 0})
    script = Program(ScriptOutput(stdout="", stderr="boom", exitCode=1))
    loop = definition(script_execution={"command": "run"})
    door = DirectorEvaluator(director=Part(draft), evaluator=Part(lambda _: forged), script=script)
    result = await door.run(loop)
    assert result.final_evaluation is not None
    assert result.final_evaluation.script_output == script.came


@pytest.mark.parametrize(
    ("loop", "own", "seen", "unseen"),
    [
        pytest.param({}, {}, ["Feedback: say more", '"step": 1'], ["draft 1"], id="notes by default"),
        pytest.param(
            {"accumulation_format": "full_output"}, {}, ["Output: draft 1", "say more"], [], id="outputs too"
        ),
        pytest.param({"accumulate_data": False}, {}, [], ["say more", "draft 1"], id="nothing"),
        pytest.param({}, {"inherit_context": "none"}, [], ["say more", "A FILE"], id="a role that sees none"),
        pytest.param(
            {"accumulate_data": False},
            {"accumulate_data": True, "accumulation_format": "full_output"},
            ["Output: draft 1"],
            [],
            id="a role that accumulates itself",
        ),
        pytest.param({}, {}, ["A FILE"], ["AROUND"], id="fresh files, nothing inherited"),
        pytest.param(
            {"inherit_context": "full", "fresh_context": "disabled"}, {}, ["AROUND"], [], id="inherited"
        ),
    ],
)
async def test_what_the_director_sees(
    loop: dict[str, Any], own: dict[str, Any], seen: Sequence[str], unseen: Sequence[str]
) -> None:
    async def files(description: str, paths: Sequence[str], *, search: bool) -> Sequence[ContextFile]:
        return [ContextFile("a.py", "A FILE")] if search else []

    director = Part(draft)
    door = DirectorEvaluator(director=director, evaluator=Part(succeeds_at(2)), files=files)
    result = await door.run(
        definition(context_management=loop, director=role(context_management=own)), inherited="AROUND"
    )
    context = director.tasks[1].context
    assert all(each in context for each in seen)
    assert not any(each in context for each in unseen)
    assert result.iteration_history[1].context == context


def test_accumulated_context_is_bounded_and_keeps_the_latest() -> None:
    earlier = [
        LoopIteration(
            iteration=number,
            output="x" * 100_000,
            evaluation=LoopEvaluation(success=False, feedback="f" * 100_000),
        )
        for number in range(1, 101)
    ]
    moment = Moment(LoopInputs(""), earlier, LoopIteration(iteration=101))
    for form in ("notes_only", "full_output"):
        text = accumulated(moment, form)
        assert len(text) < ACCUMULATED_CHARS + 1000
        assert "Iteration 100\n" in text
        assert "earlier iterations are left out" in text


async def test_a_loop_with_full_outputs_stays_bounded() -> None:
    director = Part(lambda task: TaskResult(content=f"{task.iteration} " + "x" * 150_000))
    loop = definition(max_iterations=40, context_management={"accumulation_format": "full_output"})
    result = await DirectorEvaluator(director=director, evaluator=Part(NEVER)).run(loop)
    lengths = [len(each.context) for each in result.iteration_history]
    assert max(lengths) < ACCUMULATED_CHARS + 1000
    # From then on it grows by the figure in its first line alone.
    assert max(lengths[10:]) - min(lengths[10:]) < 20
    assert "Output: 39 x" in result.iteration_history[-1].context


def crash(_: RoleTask) -> Came:
    raise RuntimeError("no work today")


def late(_: RoleTask) -> Came:
    raise TimeoutError


@pytest.mark.parametrize(
    ("came", "reason"),
    [
        pytest.param(crash, FailureReason.UNEXPECTED_ERROR, id="crash"),
        pytest.param(late, FailureReason.EXECUTION_TIMEOUT, id="timeout"),
        pytest.param(
            lambda _: Trouble(FailureReason.EXECUTION_HALTED, "no key"),
            FailureReason.EXECUTION_HALTED,
            id="t",
        ),
        pytest.param(
            lambda _: TaskResult(content="", status=TaskStatus.FAILED),
            FailureReason.UNEXPECTED_ERROR,
            id="says that it failed",
        ),
        pytest.param(
            lambda _: TaskResult(
                content="", status=TaskStatus.FAILED, notes={"reason": "context_matching_failure"}
            ),
            FailureReason.CONTEXT_MATCHING_FAILURE,
            id="says why",
        ),
    ],
)
@pytest.mark.parametrize("part", ["director", "evaluator"])
async def test_an_execution_error_ends_the_loop_with_what_it_has(
    came: Work, reason: FailureReason, part: str
) -> None:
    def then(first: Work) -> Work:
        return lambda task: first(task) if task.iteration < 3 else came(task)

    director = Part(then(draft) if part == "director" else draft)
    evaluator = Part(then(NEVER) if part == "evaluator" else NEVER)
    result = await DirectorEvaluator(director=director, evaluator=evaluator).run(definition())
    assert (result.ended_by, result.success, result.iterations_completed) == (LoopEnd.ERROR, False, 2)
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is reason
    assert result.error.details.partial_results == result.iteration_history
    assert [each.output for each in result.iteration_history] == [
        "draft 1", "draft 2", None if part == "director" else "draft 3",
    ]  # fmt: skip
    assert '"partialResults"' in result.model_dump_json()


@pytest.mark.parametrize(
    "notes",
    [
        pytest.param({}, id="empty"),
        pytest.param({"success": "true", "feedback": "f"}, id="a word for a truth"),
        pytest.param({"success": 1, "feedback": "f"}, id="a number for a truth"),
        pytest.param({"success": True}, id="no feedback"),
        pytest.param({"success": True, "feedback": None}, id="null feedback"),
    ],
)
async def test_notes_that_are_no_evaluation_are_no_success(notes: dict[str, Any]) -> None:
    evaluator = Part(lambda _: TaskResult(content="", notes=notes))
    result = await DirectorEvaluator(director=Part(draft), evaluator=evaluator).run(definition())
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.OUTPUT_FORMAT_FAILURE
    assert not result.success
    assert result.final_output == "draft 1"


@pytest.mark.parametrize(
    ("limits", "resource", "used", "limit"),
    [
        pytest.param(LoopLimits(turns=3), "turns", 4, 3, id="turns"),
        pytest.param(LoopLimits(context_chars=1), "context", 16, 1, id="context"),
        pytest.param(LoopLimits(output_chars=6), "output", 7, 6, id="output"),
    ],
)
async def test_limits_are_resource_exhaustion(
    limits: LoopLimits, resource: str, used: int, limit: int
) -> None:
    door = DirectorEvaluator(director=Part(draft), evaluator=Part(NEVER), limits=limits)
    error = (await door.run(definition())).error
    assert isinstance(error, ResourceExhaustion)
    assert (error.resource, error.used, error.limit) == (resource, used, limit)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        pytest.param({"script_execution": {"command": "x"}}, FailureReason.EXECUTION_HALTED, id="no sandbox"),
        pytest.param({"file_paths": ["a.py"]}, FailureReason.CONTEXT_RETRIEVAL_FAILURE, id="no workspace"),
    ],
)
async def test_what_cannot_be_had_here_is_said(changed: dict[str, Any], reason: FailureReason) -> None:
    door = DirectorEvaluator(director=Part(draft), evaluator=Part(NEVER))
    error = (await door.run(definition(**changed))).error
    assert isinstance(error, TaskFailure)
    assert error.reason is reason


@pytest.mark.parametrize(
    ("status", "end"),
    [
        pytest.param(TaskStatus.WAITING, LoopEnd.WAITING, id="waits for a human"),
        pytest.param(TaskStatus.CONTINUATION, LoopEnd.ERROR, id="asks for a subtask"),
    ],
)
async def test_other_words_of_the_director(status: TaskStatus, end: LoopEnd) -> None:
    director = Part(lambda _: TaskResult(content="half", status=status))
    result = await DirectorEvaluator(director=director, evaluator=Part(NEVER)).run(definition())
    assert (result.ended_by, result.final_output, result.success) == (end, "half", False)


async def test_inputs_that_are_missing_are_all_named() -> None:
    loop = definition(
        description="On {{topic}}",
        inputs=[{"name": "style"}],
        director=role("tone"),
        script_execution={
            "command": "run {{flag}} {{own}}",
            "inputs": [{"name": "own", "from": "user_query"}],
        },
    )
    door = DirectorEvaluator(director=Part(draft), evaluator=Part(NEVER))
    result = await door.run(loop)
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.INPUT_VALIDATION_FAILURE
    assert "style, topic, flag, tone" in result.error.message
    assert bind(loop, dict.fromkeys(["style", "topic", "flag", "tone"], "v")).user_query == "On v"


def test_a_value_is_not_filled_again() -> None:
    assert fill("{{a}} {{ b }} {{c}}", {"a": "{{b}}", "b": "B"}) == "{{b}} B {{c}}"


OUTCOMES = st.sampled_from(["success", "negative", "crash", "malformed", "failed"])


@given(st.integers(1, 8), st.data(), st.none() | st.integers(1, 9))
def test_a_loop_ends_within_its_maximum_and_its_history_is_complete(
    maximum: int, data: st.DataObject, stop_at: int | None
) -> None:
    plan = data.draw(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=maximum, max_size=maximum))
    calls = {"director": 0, "evaluator": 0}

    def work(task: RoleTask) -> Came:
        calls[task.role] += 1
        outcome = plan[task.iteration - 1][task.role == "evaluator"]
        if outcome == "crash":
            raise RuntimeError("no work today")
        if outcome == "failed":
            return Trouble(FailureReason.EXECUTION_HALTED, "no key")
        if task.role == "director":
            return draft(task)
        return TaskResult(content="") if outcome == "malformed" else judged(outcome == "success")

    ending = {"termination_condition": {"condition": f"iteration === {stop_at}"}} if stop_at else {}

    async def run() -> LoopResult:
        part = Part(work)
        return await DirectorEvaluator(director=part, evaluator=part).run(
            definition(max_iterations=maximum, **ending)
        )

    result = anyio.run(run)
    history = result.iteration_history
    assert len(history) == calls["director"] <= maximum
    assert [each.iteration for each in history] == list(range(1, len(history) + 1))
    assert result.iterations_completed >= len(history) - 1
    assert (result.iterations_completed == len(history)) is (result.error is None)
    assert all(each.output is not None and each.evaluation for each in history[:-1])
    if result.error is not None:
        assert result.error.details.partial_results == history
        assert not result.success
    assert result.success is (result.ended_by is LoopEnd.SUCCESS)
    if result.ended_by is LoopEnd.MAXIMUM:
        assert len(history) == maximum
    assert LoopResult.model_validate_json(result.model_dump_json()) == result
