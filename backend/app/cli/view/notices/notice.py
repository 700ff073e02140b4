"""The notice type, the registry of notices by event, and the words that all topics share."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

from app.cli.view.state import WatchedRun
from app.cli.view.text import one_line
from app.cli.view.words import KIND_WORDS, duration
from app.core.events.envelope import Envelope

EVIDENCE_LINES = 6


@dataclass(frozen=True, slots=True)
class TerminalNotice:
    """A message about an event.

    Attributes:
        state: the word that determines icon and colour (`view.words`).
        text: one harmless line.
        details: further harmless lines, shown indented.
        depth: 0 for the run, 1 for a phase, 2 for an attempt, 3 for events within one.
        is_chatter: True if a live view shows it only briefly and only a log keeps it.
    """

    state: str
    text: str
    details: tuple[str, ...] = ()
    depth: int = 2
    is_chatter: bool = False


@singledispatch
def say(event: Envelope, state: WatchedRun) -> Iterable[TerminalNotice]:
    """Return the notices about `event`. Each topic registers its events here; other events have no notice."""
    return ()


def kind_word(state: WatchedRun) -> str:
    """Return the word for a run of this kind, at the beginning of a sentence."""
    return KIND_WORDS.get(state.kind, "Run")


def try_word(state: WatchedRun) -> str:
    """Return the word for an attempt of a run of this kind."""
    return "iteration" if state.kind == "director_loop" else "attempt"


def place_words(event: Envelope, state: WatchedRun) -> str:
    """Return where in its run an event belongs. Loops and answers have only one phase, so it is not named."""
    return f"Phase {event.phase}" if is_sprint(state) else kind_word(state)


def is_sprint(state: WatchedRun) -> bool:
    """Return whether the run is a sprint."""
    return state.kind == "sprint"


def because(reason: str) -> str:
    """Return the reason as the end of a line, or an empty text."""
    return f": {one_line(reason)}" if reason.strip() else ""


def tried_again(seconds: float | None) -> str:
    """Return when the next try is, as the end of a line, or an empty text."""
    return f"; tried again in {duration(seconds)}" if seconds is not None else ""
