"""Converts whatever ends a loop into the documented errors, with everything completed before."""

import time
from collections.abc import Awaitable, Sequence
from typing import Never, TypeVar

from pydantic import ValidationError

from app.runners.loop.roles import Exhausted, Trouble, evaluation_of
from app.schemas.loop.results import (
    ErrorDetails,
    FailureReason,
    LoopEnd,
    LoopError,
    LoopEvaluation,
    LoopIteration,
    LoopResult,
    Resource,
    ResourceExhaustion,
    TaskFailure,
    TaskResult,
)
from app.schemas.runs import Usage

ValueT = TypeVar("ValueT")


class StoppedError(Exception):
    """Ends the iteration because a part could not do its work. It is caught inside the loop."""

    def __init__(self, trouble: Trouble | Exhausted) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble


def stop(reason: FailureReason, message: str) -> Never:
    """End the loop."""
    raise StoppedError(Trouble(reason, message))


async def done(part: str, work: Awaitable[ValueT | Trouble | Exhausted]) -> tuple[ValueT, int]:
    """Await a part of the loop. Return its value and the milliseconds it took.

    Raises:
        StoppedError: the part reported trouble or crashed.
    """
    started = time.monotonic()
    try:
        came = await work
    except TimeoutError:
        stop(FailureReason.EXECUTION_TIMEOUT, f"{part} did not finish in time")
    except Exception as error:  # noqa: BLE001 - one part's defect must not lose what the others did
        stop(FailureReason.UNEXPECTED_ERROR, f"{part} crashed: {type(error).__name__}: {error}")
    if isinstance(came, Trouble | Exhausted):
        raise StoppedError(came)
    return came, int((time.monotonic() - started) * 1000)


def within(resource: Resource, used: int, limit: int) -> None:
    """Check a use against its limit.

    Raises:
        StoppedError: the use is above the limit.
    """
    if used > limit:
        of = "turns" if resource == "turns" else f"characters of {resource}"
        raise StoppedError(Exhausted(resource, used, limit, f"{used} of {limit} {of}"))


def read_evaluation(result: TaskResult) -> LoopEvaluation:
    """Read an evaluation from an evaluator's notes.

    Raises:
        StoppedError: the notes do not hold an evaluation.
    """
    try:
        return evaluation_of(result)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False, include_context=False)[:3]
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in faults)
        stop(FailureReason.OUTPUT_FORMAT_FAILURE, f"the evaluator's notes are no evaluation: {said}")


def reason_of(result: TaskResult) -> FailureReason:
    """Return the agent's note `reason` if it is a known failure reason, else a general one."""
    try:
        return FailureReason(str(result.notes.get("reason")))
    except ValueError:
        return FailureReason.UNEXPECTED_ERROR


def error_of(trouble: Trouble | Exhausted, history: Sequence[LoopIteration]) -> LoopError:
    """Return the error, with everything that was completed before it."""
    details = ErrorDetails(partialResults=list(history))
    if isinstance(trouble, Trouble):
        return TaskFailure(reason=trouble.reason, message=trouble.message, details=details)
    return ResourceExhaustion(
        resource=trouble.resource,
        used=trouble.used,
        limit=trouble.limit,
        message=trouble.message,
        details=details,
    )


def loop_result(
    history: Sequence[LoopIteration], ended_by: LoopEnd, trouble: Trouble | Exhausted | None = None
) -> LoopResult:
    """Return the result of a loop from all its iterations."""
    evaluations = [each.evaluation for each in history if each.evaluation]
    outputs = [each.output for each in history if each.output is not None]
    return LoopResult(
        final_output=outputs[-1] if outputs else "",
        final_evaluation=evaluations[-1] if evaluations else None,
        success=trouble is None and bool(evaluations) and evaluations[-1].success,
        iterations_completed=len(evaluations),
        iteration_history=list(history),
        ended_by=ended_by,
        usage=Usage.total(each.usage.total for each in history),
        error=error_of(trouble, history) if trouble else None,
    )


def refused(message: str) -> LoopResult:
    """Return the result of a loop that could not begin."""
    error = TaskFailure(reason=FailureReason.INPUT_VALIDATION_FAILURE, message=message)
    return LoopResult(
        final_output="",
        final_evaluation=None,
        success=False,
        iterations_completed=0,
        iteration_history=[],
        ended_by=LoopEnd.ERROR,
        error=error,
    )
