"""What clients of a running service import: the follower of a run's events, and the errors that it raises."""

from app.client.events import Cursor, Reconnect, Reset, WireEvent, follow
from app.core.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PhaseRunnerError,
    UnauthorizedError,
    UnavailableError,
)

__all__ = [
    "Cursor",
    "ForbiddenError",
    "InvalidInputError",
    "NotFoundError",
    "PhaseRunnerError",
    "Reconnect",
    "Reset",
    "UnauthorizedError",
    "UnavailableError",
    "WireEvent",
    "follow",
]
