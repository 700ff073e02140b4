"""Detects an agent that goes round in circles, from its tool calls and changes to files. Pure."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

_PAIR = 2
_PROCESS_GROUP = re.compile(r"\bPGID: \d+")
"""Some agents add this number to each result of a command, and it never repeats."""

_Arguments = tuple[str, str]
"""The arguments of a call for people, and exactly."""


class StuckError(Exception):
    """The agent goes round in circles. The message says how."""


@dataclass(frozen=True, slots=True)
class StuckLimits:
    """The limits beyond which an agent counts as stuck. None switches a rule off.

    Attributes:
        same_calls: equal tool calls with equal results in a row. Two alternating calls count as pairs.
        unchanged_seconds: wall-clock time without a changed file while the agent asks models.
    """

    same_calls: int | None = 8
    unchanged_seconds: float | None = None


class CallCounter:
    """Counts tool calls that repeat.

    Args:
        limit: as in `StuckLimits.same_calls`.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._open: dict[str, deque[_Arguments]] = {}
        self._done: deque[tuple[str, _Arguments, str]] = deque(maxlen=_PAIR * limit if limit else 0)

    def call(self, tool: str, arguments: str, exact: str = "") -> None:
        """Record a call.

        Args:
            tool: its name.
            arguments: the arguments, or a summary of them.
            exact: all arguments, if `arguments` may look the same for two different calls.
        """
        if self._limit is not None:
            self._open.setdefault(tool, deque(maxlen=self._limit)).append((arguments, exact))

    def result(self, tool: str, result: str) -> str | None:
        """Record the result of a tool's oldest open call. Return how the agent is stuck, or None."""
        if self._limit is None:
            return None
        waiting = self._open.get(tool)
        told = _PROCESS_GROUP.sub("PGID", result)
        self._done.append((tool, waiting.popleft() if waiting else ("", ""), told))
        return self._circle(self._limit)

    def _circle(self, limit: int) -> str | None:
        done = list(self._done)
        tool, (arguments, _), _ = done[-1]
        if _all_equal(done, 1, limit):
            return f"it called {_shown(tool, arguments)} {limit} times in a row with the same result"
        if _all_equal(done, _PAIR, limit):
            before, (words, _), _ = done[-_PAIR]
            pair = f"{_shown(before, words)} and {_shown(tool, arguments)}"
            return f"it called {pair} in turn {limit} times with the same results"
        return None


class ChangeClock:
    """Measures how long no file has changed.

    Args:
        limit: as in `StuckLimits.unchanged_seconds`.
        now: in seconds of any steady clock.

    Attributes:
        changed_at: time of the last change that was seen.
    """

    def __init__(self, limit: float | None, now: float) -> None:
        self._limit = limit
        self.changed_at = now
        self._seen: frozenset[tuple[str, int, int]] | None = None

    def look(
        self, files: Iterable[tuple[str, int, int]], requests_since_change: int, now: float
    ) -> str | None:
        """Record the state of the files. Return how the agent is stuck, or None.

        Args:
            files: path, size and time of change of each.
            requests_since_change: requests to models since the last look that saw a change.
            now: of the same clock as before.
        """
        state = frozenset(files)
        if self._limit is None or state != self._seen:
            self._seen, self.changed_at = state, now
            return None
        if now - self.changed_at < self._limit or requests_since_change == 0:
            return None
        return f"it changed no file for {self._limit:g} s and made {requests_since_change} model requests"


def _all_equal(done: list[tuple[str, _Arguments, str]], period: int, times: int) -> bool:
    wanted = period * times
    if len(done) < wanted:
        return False
    last = done[-wanted:]
    return all(last[at] == last[at % period] for at in range(wanted))


def _shown(tool: str, arguments: str) -> str:
    words = " ".join(arguments.split())[:200]
    return f"{tool} ({words})" if words else tool
