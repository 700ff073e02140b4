"""Tells how an earlier try of the same attempt ended: interrupted, or with a failure of the agent."""

from app.db.models import Attempt
from app.schemas.runs import AttemptState
from app.services.record.history import Recorded


def is_interrupted(recorded: Recorded, number: int) -> bool:
    """Return whether the attempt was interrupted: its worker was lost, or stopped and released it."""
    own = _own(recorded, number)
    return own is not None and (own.status == AttemptState.STARTED or not own.last_error)


def last_end(recorded: Recorded, number: int) -> str:
    """Say why the attempt's last try ended, and that its changes are kept; empty for a first try."""
    own = _own(recorded, number)
    if own is None or own.status != AttemptState.AGENT_FAILED or not own.last_error:
        return ""
    left = "Its changes are in the workspace." if own.head_commit else "No file was changed."
    return f"\n## The last try ended early\n\n{own.last_error}\n{left} Continue from there.\n"


def has_work(recorded: Recorded, number: int) -> bool:
    """Return whether the attempt starts with changes that an earlier try of it left."""
    own = _own(recorded, number)
    return own is not None and own.head_commit is not None


def _own(recorded: Recorded, number: int) -> Attempt | None:
    return next((each for each in recorded.attempts if each.number == number), None)
