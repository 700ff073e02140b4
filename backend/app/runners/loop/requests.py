"""What a director can request during an iteration, and how it receives the answer.

A subtask that ends without success still counts as an answer. A subtask that ends with an error also ends the
loop that requested it.
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
"""Maximum number of a director's requests in one iteration."""

RESULT_CHARS = 40_000
"""Maximum characters of a subtask's output that the director sees. The subtask's record holds all of it."""

EARLIER_CHARS = 20_000


def read_request(result: TaskResult) -> SubtaskRequest | EvaluationRequest | Trouble:
    """Read the request in a `CONTINUATION`: a subtask or an evaluation, but not both."""
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
    """Return the evaluator's task for an evaluation in the middle of an iteration.

    Args:
        request: the director's request.
        result: the director's result that holds the request.
        evaluator: the loop's evaluator.
        moment: the loop's position.
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
    """Return a subtask's result in the form that the requesting loop needs.

    `WAITING` makes that loop wait too.
    """
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
    """Return the inputs that give a director the results of its requests in this iteration.

    The latest are `subtask_result` and `evaluation_result`; earlier ones are in `earlier_results`.
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
    """Add a subtask's consumption to an iteration, however the subtask ended.

    Args:
        iteration: the iteration that requested the subtask.
        usage: tokens and cost of the subtask and those below it.
        turns: agent calls, including those of subtasks below it.
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
    """Return the iteration with an answer to its last request."""
    filled = iteration.exchanges[-1].model_copy(update={"result": result})
    return iteration.model_copy(update={"exchanges": [*iteration.exchanges[:-1], filled]})


def too_many(exchanges: Sequence[Exchange]) -> Exhausted | None:
    """Return an error if the director has used up its requests in this iteration, else None."""
    asked = len(exchanges)
    if asked < MAX_REQUESTS:
        return None
    text = f"the director asks for a subtask or an evaluation {asked + 1} times in one iteration"
    return Exhausted("turns", asked + 1, MAX_REQUESTS, text)


def _told(exchange: Exchange) -> str:
    return exchange.model_dump_json(exclude_none=True, exclude={"run_id"})
