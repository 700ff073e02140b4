"""Subtasks of loops: depth, cycles, the common budget, and what goes down and comes back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.facts import Spent
from app.runners.loop.context import LoopInputs, Moment, bind, fill
from app.runners.loop.requests import (
    MAX_REQUESTS,
    RESULT_CHARS,
    answers,
    evaluation_task,
    read_request,
    result_of,
    too_many,
)
from app.runners.loop.roles import Exhausted, Trouble
from app.runners.loop.subtasks import (
    Lineage,
    SubtaskLedger,
    SubtaskPlan,
    below,
    fingerprint,
    outermost,
    plan_subtask,
    remaining,
)
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import (
    ErrorDetails,
    Exchange,
    FailureReason,
    LoopEnd,
    LoopEvaluation,
    LoopIteration,
    LoopResult,
    ResourceExhaustion,
    TaskFailure,
    TaskResult,
    TaskStatus,
)
from app.schemas.loop.subtasks import MAX_DEPTH, EvaluationRequest, SubtaskRequest
from app.schemas.runs import Budget

ROOT = outermost("Build a bridge", {})
LEDGER = SubtaskLedger(turns=20)


def request(description: str = "Find the load", **more: Any) -> SubtaskRequest:
    return SubtaskRequest.model_validate({"type": "atomic", "description": description, **more})


def loop(**changed: Any) -> DirectorEvaluatorLoop:
    given: dict[str, Any] = {
        "description": "Build a bridge",
        "max_iterations": 7,
        "director": {"description": "Draw", "model": "test:draw", "system_prompt": "You draw."},
        "evaluator": {"description": "Judge", "evaluators": ["ruff_lint"]},
    }
    return DirectorEvaluatorLoop.model_validate({**given, **changed})


def asking(**notes: Any) -> TaskResult:
    return TaskResult(content="so far", status=TaskStatus.CONTINUATION, notes=notes)


# Few descriptions, so that tasks repeat.
requests = st.builds(
    request,
    st.sampled_from(["a", "b", " A ", "c {{x}}", "d", "e", "f", "g"]),
    type=st.sampled_from(["atomic", "director_evaluator_loop"]),
    inputs=st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"])),
    max_depth=st.none() | st.integers(1, MAX_DEPTH),
)


@given(st.lists(requests, max_size=30))
def test_however_it_is_asked_lineages_stay_short_distinct_and_tight(asked: list[SubtaskRequest]) -> None:
    lineage = ROOT
    for each in asked:
        came = below(lineage, each)
        if isinstance(came, Trouble):
            assert came.reason is FailureReason.SUBTASK_FAILURE
            continue
        assert came.tasks[:-1] == lineage.tasks
        assert came.deepest <= lineage.deepest
        lineage = came
    assert lineage.depth <= lineage.deepest <= MAX_DEPTH
    assert len(set(lineage.tasks)) == len(lineage.tasks)


def test_five_levels_and_no_sixth() -> None:
    lineage = ROOT
    for number in range(1, 6):
        came = below(lineage, request(f"task {number}"))
        assert isinstance(came, Lineage)
        lineage = came
        assert lineage.depth == number
    came = below(lineage, request("task 6"))
    assert isinstance(came, Trouble)
    assert "depth 6; the deepest allowed is 5" in came.message


@pytest.mark.parametrize(
    ("limits", "depth"),
    [
        pytest.param([1], 1, id="none below"),
        pytest.param([3, 1], 2, id="the tighter one counts"),
        pytest.param([1, 5], 1, id="a limit cannot be loosened below it"),
        pytest.param([2, None], 2, id="it holds for those that name none"),
        pytest.param([5, 5, 5, 5, 5, 5], 5, id="the common one stays"),
    ],
)
def test_requests_tighten_the_depth(limits: list[int | None], depth: int) -> None:
    lineage = ROOT
    for number, limit in enumerate([*limits, *[None] * 6]):
        came = below(lineage, request(f"task {number}", max_depth=limit))
        if isinstance(came, Trouble):
            break
        lineage = came
    assert lineage.depth == depth


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(request("Find it"), request("Find it"), id="the same"),
        pytest.param(request("Find it"), request("  find\n IT "), id="spacing and case"),
        pytest.param(request("Find it"), request("Find it", type="director_evaluator_loop"), id="type"),
        pytest.param(
            request("Find {{x}}", inputs={"x": "1"}), request("Find 1", inputs={"x": "1"}), id="filled"
        ),
    ],
)
def test_cycles_are_refused(first: SubtaskRequest, second: SubtaskRequest) -> None:
    between = below(ROOT, first)
    assert isinstance(between, Lineage)
    between = below(between, request("Something else"))
    assert isinstance(between, Lineage)
    came = below(between, second)
    assert isinstance(came, Trouble)
    assert "depth 1: a cycle" in came.message


def test_the_outermost_task_is_part_of_a_cycle() -> None:
    came = below(ROOT, request("build a bridge"))
    assert isinstance(came, Trouble)
    assert "depth 0: a cycle" in came.message


texts = st.text(max_size=20)


@given(texts, st.dictionaries(texts, texts), st.dictionaries(texts, texts))
def test_tasks_differ_when_their_inputs_do(text: str, one: dict[str, str], other: dict[str, str]) -> None:
    def stripped(inputs: dict[str, str]) -> dict[str, str]:
        return {name: value.strip() for name, value in inputs.items()}

    same = stripped(one) == stripped(other)
    assert (fingerprint(text, one) == fingerprint(text, other)) is same
    assert fingerprint(text, one) == fingerprint(f"\n{text} ", dict(reversed(one.items())))


@given(
    st.none() | st.integers(1, 1000),
    st.none() | st.floats(0.01, 100.0),
    st.integers(0, 3000),
    st.floats(0.0, 300.0),
    st.integers(0, 2),
)
def test_a_subtask_never_gets_more_than_is_left(
    tokens: int | None, cost: float | None, used: int, paid: float, grants: int
) -> None:
    left = remaining(Budget(tokens=tokens, cost_usd=cost), Spent(used, paid, grants))
    over = (tokens is not None and used >= tokens * (1 + grants)) or (
        cost is not None and paid >= cost * (1 + grants)
    )
    assert isinstance(left, Trouble) is over
    if isinstance(left, Budget):
        assert (left.tokens is None) is (tokens is None)
        assert (left.cost_usd is None) is (cost is None)
        assert tokens is None or used + (left.tokens or 0) == tokens * (1 + grants)
        assert cost is None or paid + (left.cost_usd or 0.0) == pytest.approx(cost * (1 + grants))


def planned(asked: SubtaskRequest, parent: DirectorEvaluatorLoop | None = None, **more: Any) -> SubtaskPlan:
    plan = plan_subtask(asked, parent or loop(), ROOT, LEDGER, **more)
    assert isinstance(plan, SubtaskPlan)
    return plan


def test_a_subtask_is_a_loop_with_the_parents_agents_and_its_own_defaults() -> None:
    asked = request(
        "Find {{what}}, not {{unknown}}", inputs={"what": "the {{load}}"}, template_hints=["like {{what}}"]
    )
    plan = planned(asked)
    assert plan.query == "Find the {{load}}, not {{unknown}}"
    assert (plan.definition.max_iterations, plan.definition.director.model) == (1, "test:draw")
    assert plan.definition.director.system_prompt == "You draw."
    assert plan.definition.evaluator.evaluators == ()
    context = plan.definition.context_management
    assert (context.inherit_context, context.accumulate_data, context.fresh_context) == (
        "none",
        False,
        "enabled",
    )
    # It can be started: nothing that a model wrote is taken for a placeholder.
    bound = bind(plan.definition, plan.inputs, query=plan.query)
    told = fill(plan.definition.director.description, bound.values)
    assert told.startswith("Find the {{load}}, not {{unknown}}")
    assert "like { {what}}" in told
    assert plan.turns == 20


def test_a_loop_as_a_subtask_may_iterate_and_inherit() -> None:
    asked = request(
        type="director_evaluator_loop",
        context_management={"inherit_context": "full", "fresh_context": "disabled"},
    )
    plan = planned(asked, context="what the director saw")
    assert plan.definition.max_iterations == 7
    assert plan.inherited == "what the director saw"
    assert plan.definition.context_management.inherit_context == "full"


@given(requests)
def test_every_plan_can_be_bound(asked: SubtaskRequest) -> None:
    plan = planned(asked)
    assert bind(plan.definition, plan.inputs, query=plan.query).user_query == plan.query


@pytest.mark.parametrize(
    ("ledger", "words"),
    [
        pytest.param(SubtaskLedger(turns=4, turns_used=4), "4 of 4 turns are used", id="turns"),
        pytest.param(
            SubtaskLedger(turns=4, budget=Budget(tokens=10), spent=Spent(tokens=12)),
            "12 of 10 tokens",
            id="tokens",
        ),
        pytest.param(
            SubtaskLedger(turns=4, budget=Budget(cost_usd=1.0), spent=Spent(cost_usd=1.0)),
            "$1.00 of $1.00",
            id="cost",
        ),
    ],
)
def test_nothing_left_is_no_subtask(ledger: SubtaskLedger, words: str) -> None:
    came = plan_subtask(request(), loop(), ROOT, ledger)
    assert isinstance(came, Trouble | Exhausted)
    assert words in came.message


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        pytest.param({}, "it has neither", id="neither"),
        pytest.param({"subtask_request": None}, "it has neither", id="null"),
        pytest.param({"subtask_request": {}, "evaluation_request": {}}, "it has both", id="both"),
        pytest.param({"subtask_request": {"description": "x"}}, "type: Field required", id="no type"),
        pytest.param({"subtask_request": {"type": "atomic"}}, "description: Field required", id="no task"),
        pytest.param({"subtask_request": {"type": "shell", "description": "x"}}, "type: Input", id="type"),
        pytest.param({"subtask_request": "find it"}, "subtask_request: ", id="a text"),
        pytest.param(
            {"subtask_request": {"type": "atomic", "description": "x", "max_depth": 6}},
            "max_depth",
            id="depth",
        ),
        pytest.param(
            {"subtask_request": {"type": "atomic", "description": "x", "inputs": {"a b": "1"}}},
            "inputs",
            id="name",
        ),
        pytest.param(
            {
                "subtask_request": {
                    "type": "atomic",
                    "description": "x",
                    "context_management": {"inherit_context": "full", "fresh_context": "enabled"},
                }
            },
            "fresh_context `enabled` requires",
            id="contexts",
        ),
        pytest.param({"evaluation_request": {"type": "style"}}, "criteria: Field required", id="no criteria"),
    ],
)
def test_requests_that_cannot_be_read(notes: dict[str, Any], words: str) -> None:
    came = read_request(asking(**notes))
    assert isinstance(came, Trouble)
    assert came.reason is FailureReason.OUTPUT_FORMAT_FAILURE
    assert words in came.message


def test_an_evaluation_can_be_asked_for() -> None:
    came = read_request(asking(evaluation_request={"type": "style", "criteria": "Is it terse?"}))
    assert isinstance(came, EvaluationRequest)
    moment = Moment(LoopInputs("Why?"), [], LoopIteration(iteration=1))
    task = evaluation_task(came, asking(), loop().evaluator, moment)
    assert "(style). Judge by this: Is it terse?" in task.description
    assert task.inputs == {"target": "so far", "original_prompt": "Why?"}
    of_query = came.model_copy(update={"target": "user_query"})
    assert evaluation_task(of_query, asking(), loop().evaluator, moment).inputs["target"] == "Why?"
    of_text = came.model_copy(update={"target": "these words"})
    assert evaluation_task(of_text, asking(), loop().evaluator, moment).inputs["target"] == "these words"


def ended(end: LoopEnd, **more: Any) -> LoopResult:
    evaluation = LoopEvaluation(success=end is LoopEnd.SUCCESS, feedback="hm")
    given: dict[str, Any] = {
        "final_output": "42 t",
        "final_evaluation": evaluation,
        "iterations_completed": 1,
    }
    success = end is LoopEnd.SUCCESS
    return LoopResult(success=success, iteration_history=[], ended_by=end, **{**given, **more})


@pytest.mark.parametrize("end", [each for each in LoopEnd if each is not LoopEnd.ERROR])
def test_what_is_no_error_comes_back(end: LoopEnd) -> None:
    came = result_of(ended(end))
    assert isinstance(came, TaskResult)
    assert came.content == "42 t"
    assert came.notes == {
        "success": end is LoopEnd.SUCCESS,
        "feedback": "hm",
        "iterations": 1,
        "ended_by": end.value,
    }
    assert came.status is (TaskStatus.WAITING if end is LoopEnd.WAITING else TaskStatus.COMPLETE)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        pytest.param(
            TaskFailure(reason=FailureReason.EXECUTION_TIMEOUT, message="too slow"),
            "(execution_timeout): too slow",
            id="failure",
        ),
        pytest.param(
            ResourceExhaustion(resource="turns", used=3, limit=2, message="3 of 2", details=ErrorDetails()),
            "(turns): 3 of 2",
            id="exhaustion",
        ),
    ],
)
def test_an_error_of_a_subtask_is_one_of_its_parent(error: Any, words: str) -> None:
    came = result_of(ended(LoopEnd.ERROR, error=error))
    assert isinstance(came, Trouble)
    assert came.reason is FailureReason.SUBTASK_FAILURE
    assert words in came.message


def test_a_long_result_is_cut_for_the_parent() -> None:
    came = result_of(ended(LoopEnd.SUCCESS, final_output="x" * (3 * RESULT_CHARS)))
    assert isinstance(came, TaskResult)
    assert len(came.content) < RESULT_CHARS + 100
    assert "characters are left out here" in came.content


def test_the_director_is_told_what_came_of_its_requests() -> None:
    first, second = (
        Exchange(subtask_request=request(f"find {name}"), result=TaskResult(content=f"found {name}"))
        for name in ("one", "two")
    )
    asked = EvaluationRequest(type="style", criteria="terse?")
    judged = Exchange(evaluation_request=asked, result=TaskResult(content="it is"))
    told = answers([first, judged, second, Exchange(subtask_request=request("find three"))])
    assert set(told) == {"subtask_result", "evaluation_result", "earlier_results"}
    assert "found two" in told["subtask_result"]
    assert "it is" in told["evaluation_result"]
    assert "found one" in told["earlier_results"]
    assert "three" not in str(told)
    assert answers([]) == {}


def test_a_director_that_only_asks_is_ended() -> None:
    asked = [Exchange(subtask_request=request(f"task {number}")) for number in range(MAX_REQUESTS)]
    assert too_many(asked[:-1]) is None
    came = too_many(asked)
    assert came is not None
    assert (came.resource, came.used, came.limit) == ("turns", 11, 10)
