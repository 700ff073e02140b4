"""Reads the result of a finished loop from its rows."""

from collections.abc import Sequence

from app.db.models import Attempt, Run
from app.runners.loop.errors import loop_result
from app.schemas.loop.results import LoopEnd, LoopResult
from app.schemas.runs import AttemptClosing, AttemptState, RunStatus
from app.services.record.iterations import history_of, trouble_of


def result_of_run(run: Run, attempts: Sequence[Attempt]) -> tuple[LoopResult, LoopEnd | None]:
    """Return a loop's result and why it ended; the reason is None after a decision or a cancellation."""
    last = attempts[-1] if attempts else None
    trouble = trouble_of(last.details) if last and run.status == RunStatus.FAILED else None
    ended_by = _ended_by(run, last)
    return loop_result(history_of(attempts), ended_by or LoopEnd.MAXIMUM, trouble), ended_by


def _ended_by(run: Run, last: Attempt | None) -> LoopEnd | None:
    if last is None or run.status == RunStatus.CANCELLED:
        return None
    match run.status, last.closing:
        case RunStatus.FAILED, AttemptClosing.ERROR:
            return LoopEnd.ERROR
        case RunStatus.COMPLETED, AttemptClosing.CONDITION:
            return LoopEnd.CONDITION
        case RunStatus.COMPLETED, _ if last.status == AttemptState.PASSED:
            return LoopEnd.SUCCESS
        case RunStatus.FAILED, None if _is_last(run, last):
            return LoopEnd.MAXIMUM
        case _:
            return None


def _is_last(run: Run, attempt: Attempt) -> bool:
    return attempt.status == AttemptState.FAILED and attempt.number >= run.policy["max_attempts"]
