"""The notices about events, as values: the same words for a live terminal, a pipe and the log.

There is one module for each topic of `core.events`. Importing a module registers its notices, so this package
imports them all.
"""

from app.cli.view.notices import (
    agents,
    attempts,
    baselines,
    candidates,
    escalations,
    evaluations,
    held_out,
    iterations,
    phases,
    runs,
)
from app.cli.view.notices.notice import TerminalNotice, say
from app.cli.view.state import WatchedRun
from app.core.events.union import Event

__all__ = [
    "TerminalNotice",
    "agents",
    "attempts",
    "baselines",
    "candidates",
    "escalations",
    "evaluations",
    "held_out",
    "iterations",
    "notices",
    "phases",
    "runs",
]


def notices(event: Event, state: WatchedRun) -> tuple[TerminalNotice, ...]:
    """Return the notices about `event`. `state` is the state after it."""
    return tuple(say(event, state))
