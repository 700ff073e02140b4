"""The names that clients of a running service import: the follower of a run's events, and its errors."""

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
