"""Leaves out tests for which a run has no time, once it has seen how long tests like them take."""

import os
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from .clock import monotonic

_FIRST_SHARE = 1 / 8
"""Share of the limit that the tests of one file may take before anything is left out."""

_ONE_SHARE = 1 / 4
_ONE_OF = 10
"""A first test that takes such a share without its fixtures is enough, if the others do not fit at a tenth of
its time either."""

_LAST_SHARE = 0.9
"""Share of the time until the process is ended after which no further test begins."""

_SCHEDULING = "/proc/thread-self/schedstat"

_Taken = tuple["frozenset[str]", float]
"""The kinds of a test, and its seconds."""


class TimeBudget:
    """Leaves out tests when the rest of their file would take more time than the run has left.

    The tests of a file are taken together, and the tests of a plug-in. If only some rows of parameters take
    long, the others still run. The time in which a busy machine does not run this process does not count.
    Shortly before the process is ended, all that are left are left out, so that it ends in order.

    Args:
        limit: how long the run may take, in seconds; None leaves nothing out.
        seconds: after how many seconds the process is ended, whatever the machine does.
        ends_at: when that is, by the monotonic clock. The process has used some of its time already.
        clock: tells the time in seconds; None is a clock that stands still while the machine is busy.
    """

    def __init__(
        self,
        limit: "float | None",
        seconds: float,
        ends_at: float,
        clock: "Callable[[], float] | None" = None,
    ) -> None:
        self._limit = limit
        # Inside a container, the clock may count from another moment.
        self._last = min(ends_at, monotonic() + seconds) - (1 - _LAST_SHARE) * seconds
        # Tests may replace these functions.
        self._open, self._read, self._close = os.open, os.read, os.close
        self._now = clock or self._own_time
        self._began = self._now()
        self._done: dict[str, list[_Taken]] = defaultdict(list)
        self._is_short = False
        self._place = 0
        self._untidy = False
        self._in_call = 0.0

    def begin(self, item: pytest.Item) -> float:
        """Return the time at which a test begins."""
        self.tidy_up(item.session, item)
        self._in_call = 0.0
        return self._now()

    def tidy_up(self, session: pytest.Session, following: "pytest.Item | None" = None) -> None:
        """Tear down what the test before kept, because it shared it with one that was left out."""
        state: Any = getattr(session, "_setupstate", None)
        if self._untidy and hasattr(state, "teardown_exact"):
            with suppress(Exception, pytest.fail.Exception, pytest.skip.Exception):
                state.teardown_exact(following)
        self._untidy = False

    @contextmanager
    def calling(self) -> "Generator[None]":
        """Note how long a test took without its fixtures."""
        began = self._now()
        try:
            yield
        finally:
            self._in_call = self._now() - began

    def end(self, item: pytest.Item, began: float) -> "list[str]":
        """Note how long a test took. Return the ids of the tests that do not run now."""
        items = item.session.items
        self._place += 1
        if self._limit is None or items[self._place - 1 : self._place] != [item]:
            return []
        group = _group_of(item)
        self._done[group].append((_kinds_of(item), self._now() - began))
        left = items[self._place :]
        out = set(self._too_slow(group, left, self._limit)) if left else set[pytest.Item]()
        if not out:
            return []
        self._untidy = left[0] in out
        items[self._place :] = [each for each in left if each not in out]
        return [each.nodeid for each in left if each in out]

    def _too_slow(self, group: str, left: "list[pytest.Item]", limit: float) -> "list[pytest.Item]":
        if monotonic() > self._last:
            return left
        done = self._done[group]
        took = [seconds for _, seconds in done]
        is_one = len(took) == 1 and not self._is_short
        spent, share = (self._in_call, _ONE_SHARE) if is_one else (sum(took), _FIRST_SHARE)
        is_known = self._is_short and len(took) > 1
        if spent < share * limit and not is_known:
            return []
        typical = spent / _ONE_OF if is_one else _typical(took)
        fitting = (limit - (self._now() - self._began)) / max(typical, 1e-6)
        if len(left) <= fitting:
            return []
        mine = [each for each in left if _group_of(each) == group]
        if len(mine) <= fitting:
            return []
        self._is_short = True
        slow = _slow_kinds(done)
        if not slow:
            return mine
        self._done[group] = [each for each in done if slow.isdisjoint(each[0])]
        return [each for each in left if not slow.isdisjoint(_kinds_of(each))]

    def _own_time(self) -> float:
        return monotonic() - self._starved()

    def _starved(self) -> float:
        """Return the seconds in which this thread wanted to run and could not."""
        try:
            file = self._open(_SCHEDULING, os.O_RDONLY)
            try:
                return int(self._read(file, 100).split()[1]) / 1e9
            finally:
                self._close(file)
        except (OSError, ValueError, IndexError):
            return 0.0


def _typical(took: "list[float]") -> float:
    """Return what a test is likely to take. The longest may have prepared something for all others."""
    return (sum(took) - max(took)) / (len(took) - 1) if len(took) > 1 else took[0]


def _slow_kinds(done: "list[_Taken]") -> "set[str]":
    """Return the kinds that take at least half of the time, while others of the same tests are quick."""
    whole = sum(seconds for _, seconds in done)
    usual = whole / len(done)
    kinds: dict[str, list[float]] = defaultdict(list)
    for of_test, seconds in done:
        for kind in of_test:
            kinds[kind].append(seconds)
    slow = {kind for kind, took in kinds.items() if sum(took) / len(took) > usual}
    taken = [seconds for of_test, seconds in done if not slow.isdisjoint(of_test)]
    return slow if len(taken) < len(done) and sum(taken) >= whole / 2 else set()


def _group_of(item: pytest.Item) -> str:
    """Return the file of a test, or the class of a plug-in's test, such as one that runs a type checker."""
    if isinstance(item, pytest.Function) or type(item).__module__.startswith("_pytest."):
        return item.nodeid.partition("::")[0]
    return type(item).__name__


def _kinds_of(item: pytest.Item) -> "frozenset[str]":
    """Return the words in the parameters of a test, as in `test_get[redis-3]`."""
    words = item.nodeid.partition("[")[2].rstrip("]").split("-")
    return frozenset(each for each in words if any(letter.isalpha() for letter in each))
