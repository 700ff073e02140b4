"""Records the events of a loop's iterations."""

from app.core.events.iterations import (
    IterationCompletedData,
    IterationDirectedData,
    IterationFailedData,
    IterationScriptedData,
    SubtaskCompletedData,
)
from app.runners.loop.roles import Trouble
from app.runners.loop.steps import PHASE, Step
from app.schemas.loop.results import LoopIteration, TaskResult, TaskStatus
from app.schemas.runs import AttemptClosing
from app.schemas.text import storable_text
from app.services.record.transactions import Recording

MAX_CHARS = 2_000


def tell_directed(recording: Recording, step: Step) -> None:
    """Record the director's output."""
    iteration = step.iteration
    waits = step.closing is AttemptClosing.HUMAN
    data = IterationDirectedData(
        iteration=iteration.iteration,
        status=TaskStatus.WAITING if waits else TaskStatus.COMPLETE,
        output=storable_text((iteration.output or "")[:MAX_CHARS]),
        milliseconds=iteration.times.director,
    )
    recording.tell(data, PHASE, iteration.iteration)


def tell_script(recording: Recording, step: Step) -> None:
    """Record the script's exit code and output."""
    iteration, ran = step.iteration, step.iteration.script_output
    if ran is None:
        return
    data = IterationScriptedData(
        iteration=iteration.iteration,
        exit_code=ran.exit_code,
        stdout=storable_text(ran.stdout[-MAX_CHARS:]),
        stderr=storable_text(ran.stderr[-MAX_CHARS:]),
        milliseconds=iteration.times.script,
    )
    recording.tell(data, PHASE, iteration.iteration)


def tell_judged(recording: Recording, step: Step) -> None:
    """Record the verdict on an iteration."""
    iteration, evaluation = step.iteration, step.iteration.evaluation
    if evaluation is None:
        return
    data = IterationCompletedData(
        iteration=iteration.iteration,
        success=evaluation.success,
        feedback=storable_text(evaluation.feedback[:MAX_CHARS]),
        condition_met=iteration.condition_met,
        condition_trouble=storable_text(iteration.condition_trouble[:MAX_CHARS]),
        milliseconds=iteration.times.evaluator,
    )
    recording.tell(data, PHASE, iteration.iteration)


def tell_subtask(recording: Recording, iteration: LoopIteration, result: TaskResult | Trouble) -> None:
    """Record the result of the subtask that an iteration's director requested last."""
    run_id = iteration.exchanges[-1].run_id
    assert run_id is not None  # noqa: S101 - a subtask that is over was created
    is_answer = isinstance(result, TaskResult)
    data = SubtaskCompletedData(
        iteration=iteration.iteration,
        subtask_run_id=run_id,
        success=bool(result.notes["success"]) if is_answer else None,
        output=storable_text((result.content if is_answer else result.message)[:MAX_CHARS]),
    )
    recording.tell(data, PHASE, iteration.iteration)


def tell_trouble(recording: Recording, step: Step) -> None:
    """Record the error that ended the loop, if there is one."""
    trouble = step.trouble
    if trouble is None:
        return
    is_failure = isinstance(trouble, Trouble)
    data = IterationFailedData(
        iteration=step.iteration.iteration,
        type="TASK_FAILURE" if is_failure else "RESOURCE_EXHAUSTION",
        reason=trouble.reason.value if is_failure else trouble.resource,
        message=storable_text(trouble.message[:MAX_CHARS]),
    )
    recording.tell(data, PHASE, step.iteration.iteration)
