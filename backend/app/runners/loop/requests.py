"""What a director can request during an iteration, and how it receives the answer.

A subtask that was not a success is an answer; one that an error ended ends the loop that asked.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from app.agents.models.material import shorten
from app.runners.loop.context import Moment, fill
from app.runners.loop.roles import Exhausted, RoleTask, Trouble
from app.schemas.director_evaluator import SOURCES, RoleDefinition
from app.schemas.loop.results import (
    Exchange,
    FailureReason,
    LoopEnd,
    LoopIteration,
    LoopResult,
    TaskResult,
    TaskStatus,
)
from app.schemas.loop.subtasks import EvaluationRequest, SubtaskRequest
from app.schemas.runs import Usage

MAX_REQUESTS = 10
"""Of a director in one iteration."""

RESULT_CHARS = 40_000
"""Of a subtask's output, for the director that asked; the subtask's own record has all of it."""

EARLIER_CHARS = 20_000


def read_request(result: TaskResult) -> SubtaskRequest | EvaluationRequest | Trouble:
    """Read what a `CONTINUATION` asks for: a subtask or an evaluation, and not both."""
    notes = result.notes
    asked = [name for name in ("subtask_request", "evaluation_request") if notes.get(name) is not None]
    if len(asked) != 1:
        given = "both" if asked else "neither"
        text = f"CONTINUATION needs `subtask_request` or `evaluation_request` in its notes; it has {given}"
        return Trouble(FailureReason.OUTPUT_FORMAT_FAILURE, text)
    kind = SubtaskRequest if asked[0] == "subtask_request" else EvaluationRequest
    try:
        return kind.model_validate(notes[asked[0]])
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)[:3]
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in faults)
        return Trouble(FailureReason.OUTPUT_FORMAT_FAILURE, f"{asked[0]}: {said}")


def evaluation_task(
    request: EvaluationRequest, result: TaskResult, evaluator: RoleDefinition, moment: Moment
) -> RoleTask:
    """Return what the evaluator is asked in the middle of an iteration.

    Args:
        request: what the director asks for.
        result: the director's, with the request.
        evaluator: of the loop.
        moment: where the loop stands.
    """
    if request.target == "director_result":
        target = result.content
    else:
        target = moment.source(request.target) if request.target in SOURCES else request.target
    return RoleTask(
        role="evaluator",
        iteration=moment.now.iteration,
        description=f"An evaluation is asked for before the work goes on ({request.type}). Judge by this: "
        f"{request.criteria}",
        inputs={"target": target, "original_prompt": moment.inputs.user_query},
        model=evaluator.model,
        system_prompt=fill(evaluator.system_prompt, moment.inputs.values)
        if evaluator.system_prompt
        else None,
        tools=evaluator.tools,
        evaluators=evaluator.evaluators,
        output=result.content,
        goal=moment.inputs.goal,
        given=moment.inputs.given,
    )


def result_of(result: LoopResult) -> TaskResult | Trouble:
    """Return what a subtask came to as the loop that asked sees it; `WAITING` makes that loop wait too."""
    if result.error is not None:
        kind = result.error.reason if result.error.type == "TASK_FAILURE" else result.error.resource
        return Trouble(FailureReason.SUBTASK_FAILURE, f"the subtask failed ({kind}): {result.error.message}")
    evaluation = result.final_evaluation
    return TaskResult(
        content=shorten(result.final_output, RESULT_CHARS),
        status=TaskStatus.WAITING if result.ended_by is LoopEnd.WAITING else TaskStatus.COMPLETE,
        notes={
            "success": result.success,
            "feedback": shorten(evaluation.feedback, RESULT_CHARS // 4) if evaluation else "",
            "iterations": result.iterations_completed,
            "ended_by": result.ended_by.value,
        },
        usage=result.usage,
    )


def answers(exchanges: Sequence[Exchange]) -> dict[str, str]:
    """Return the inputs that tell a director what came of its requests in this iteration.

    The latest are `subtask_result` and `evaluation_result`; those before them are in `earlier_results`.
    """
    latest: dict[str, Exchange] = {}
    for each in exchanges:
        if each.result is not None:
            latest["subtask_result" if each.subtask_request else "evaluation_result"] = each
    earlier = [each for each in exchanges if each.result and each not in latest.values()]
    told = {name: _told(each) for name, each in latest.items()}
    if earlier:
        told["earlier_results"] = shorten("\n".join(map(_told, earlier)), EARLIER_CHARS)
    return told


def charged(iteration: LoopIteration, usage: Usage | None, turns: int) -> LoopIteration:
    """Return an iteration that bears what a subtask consumed, whatever became of it.

    Args:
        iteration: in which it was asked for.
        usage: of the subtask and those below it.
        turns: calls of agents, those below it included.
    """
    before = iteration.usage.subtasks
    spent = Usage.total(each for each in (before, usage) if each) if usage else before
    return iteration.model_copy(
        update={
            "usage": iteration.usage.model_copy(update={"subtasks": spent}),
            "turns": iteration.turns + turns,
        }
    )


def answered(iteration: LoopIteration, result: TaskResult) -> LoopIteration:
    """Return an iteration whose last request has its answer."""
    filled = iteration.exchanges[-1].model_copy(update={"result": result})
    return iteration.model_copy(update={"exchanges": [*iteration.exchanges[:-1], filled]})


def too_many(exchanges: Sequence[Exchange]) -> Exhausted | None:
    """Say that a director has asked often enough in one iteration; None while it has not."""
    asked = len(exchanges)
    if asked < MAX_REQUESTS:
        return None
    text = f"the director asks for a subtask or an evaluation {asked + 1} times in one iteration"
    return Exhausted("turns", asked + 1, MAX_REQUESTS, text)


def _told(exchange: Exchange) -> str:
    return exchange.model_dump_json(exclude_none=True, exclude={"run_id"})
