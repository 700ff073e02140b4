"""Leaves out tests for which a run has no time, once it has seen how long tests like them take."""

import os
import resource
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pytest

from .clock import monotonic
from .ids import words_of

_FIRST_SHARE = 1 / 8
"""Share of the limit that the tests of one file may take before anything is left out."""

_ONE_SHARE = 1 / 4
_ONE_OF = 10
"""A first test that takes such a share without its fixtures is enough, if the others do not fit at a tenth of
its time either."""

_LAST_SHARE = 0.9
"""Share of the time until the process is ended after which no further test begins."""

_SEEN_SHARE = 1 / 4
_CERTAINLY = 1.25
"""After that share of the run, a shortage is foreseen if the others need that many times what is left."""

_SCHEDULING = "/proc/thread-self/schedstat"

_Done = tuple["frozenset[str]", float]
"""The kinds of a test, and its seconds."""

_Times = tuple[float, float]
"""Seconds spent waiting, and seconds in all."""


class TimeBudget:
    """Leaves out tests when the rest of their file would take more time than the run has left.

    The tests of a file are taken together, and the tests of a plug-in. If only some rows of parameters take
    long, the others still run. There is one limit for the whole run, and another one for the waiting of tests
    that do not pass, as for a service that is not there. The time in which a busy machine does not run this
    process does not count. Shortly before the process is ended, all that are left are left out, so that it
    ends in order.

    Args:
        limit: how long such tests may wait in all, in seconds; None leaves nothing out.
        seconds: after how many seconds the process is ended, whatever the machine does.
        ends_at: when that is, by the monotonic clock. The process has used some of its time already.
        clock: tells the time in seconds; None is a clock that stands still while the machine is busy.
        worked: tells how many seconds this process and its children have worked so far.
    """

    def __init__(
        self,
        limit: "float | None",
        seconds: float,
        ends_at: float,
        clock: "Callable[[], float] | None" = None,
        worked: "Callable[[], float] | None" = None,
    ) -> None:
        # Inside a container, the clock may count from another moment.
        self._last = min(ends_at, monotonic() + seconds) - (1 - _LAST_SHARE) * seconds
        # Tests may replace these functions.
        self._open, self._read, self._close = os.open, os.read, os.close
        self._usage = resource.getrusage
        self._now, self._worked = clock or self._own_time, worked or self._time_at_work
        self._began = self._last_times = self._times()
        limits = () if limit is None else (limit, self._last - monotonic())
        self._allowances = [_Allowance(each) for each in limits]
        self._place = 0
        self._untidy = self._foresaw = False
        self._waited = 0.0
        self._in_call: _Times = (0.0, 0.0)

    def begin(self, item: pytest.Item) -> "_Times":
        """Return the times at which a test begins."""
        self.tidy_up(item.session, item)
        self._in_call = (0.0, 0.0)
        return self._times()

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
        began = self._times()
        try:
            yield
        finally:
            self._in_call = _between(began, self._times())

    def end(self, item: pytest.Item, began: "_Times", *, passed: bool = False) -> "list[str]":
        """Note how long a test took, and whether it passed. Return the ids of tests that do not run now."""
        items = item.session.items
        self._place += 1
        if not self._allowances or items[self._place - 1 : self._place] != [item]:
            return []
        self._last_times = self._times()
        waited, ran = _between(began, self._last_times)
        if passed:
            waited, self._in_call = 0.0, (0.0, self._in_call[1])
        self._waited += waited
        out = set(self._too_slow(item, items, (waited, ran)))
        if not out:
            return []
        left = items[self._place :]
        self._untidy = left[0] in out
        items[self._place :] = [each for each in left if each not in out]
        return [each.nodeid for each in left if each in out]

    def foresees_shortage(self, session: pytest.Session) -> bool:
        """Return True once, as soon as the tests are likely to take longer than the run may.

        A record without any test tells it, so that the control at the base begins before one is left out.
        """
        if self._foresaw or not self._allowances:
            return False
        spent, whole = _between(self._began, self._last_times)[1], self._allowances[-1].limit
        needed = spent / max(1, self._place) * (len(session.items) - self._place)
        self._foresaw = spent >= _SEEN_SHARE * whole and needed > _CERTAINLY * (whole - spent)
        return self._foresaw

    def _too_slow(self, item: pytest.Item, items: "list[pytest.Item]", took: "_Times") -> "list[pytest.Item]":
        spent = (self._waited, _between(self._began, self._last_times)[1])
        left = _Left(items, self._place)
        each_out = [
            allowance.too_slow(item, left, _Taken(took[index], self._in_call[index], spent[index]))
            for index, allowance in enumerate(self._allowances)
        ]
        if monotonic() > self._last:
            return left.all()
        return [each for out in each_out for each in out]

    def _times(self) -> "_Times":
        """Return how long this process has waited, and how long it could run, from some moment on."""
        now = self._now()
        return now - self._worked(), now

    def _own_time(self) -> float:
        return monotonic() - self._starved()

    def _time_at_work(self) -> float:
        """Return the seconds that this process and its children that have ended spent on a processor."""
        each = [self._usage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(used.ru_utime + used.ru_stime for used in each)

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


def _between(began: _Times, ended: _Times) -> _Times:
    return max(0.0, ended[0] - began[0]), ended[1] - began[1]


class _Taken(NamedTuple):
    """Seconds of a test with its fixtures, without them, and of the run so far."""

    whole: float
    in_call: float
    of_run: float


class _Left(NamedTuple):
    """The tests from some place on. They are listed only when one may be too slow: there may be many."""

    items: "list[pytest.Item]"
    place: int

    def all(self) -> "list[pytest.Item]":
        return self.items[self.place :]


class _Allowance:
    """A limit for the run, and what its tests have taken of it, by their files."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._done: dict[str, list[_Done]] = defaultdict(list)
        self._spent: dict[str, float] = defaultdict(float)
        self._is_short = False

    def too_slow(self, item: pytest.Item, those_left: _Left, taken: _Taken) -> "list[pytest.Item]":
        """Note what a test took. Return those of the tests left for which the rest does not suffice."""
        group = _group_of(item)
        self._done[group].append((words_of(item.nodeid), taken.whole))
        self._spent[group] += taken.whole
        done = self._done[group]
        is_one = len(done) == 1 and not self._is_short
        spent, share = (taken.in_call, _ONE_SHARE) if is_one else (self._spent[group], _FIRST_SHARE)
        is_known = self._is_short and len(done) > 1
        if spent < share * self.limit and not is_known:
            return []
        typical = spent / _ONE_OF if is_one else _typical([seconds for _, seconds in done])
        fitting = (self.limit - taken.of_run) / max(typical, 1e-6)
        left = those_left.all()
        mine = [each for each in left if _group_of(each) == group] if len(left) > fitting else []
        if len(mine) <= fitting:
            return []
        self._is_short = True
        slow = _slow_kinds(done)
        if not slow:
            return mine
        self._done[group] = [each for each in done if slow.isdisjoint(each[0])]
        self._spent[group] = sum(seconds for _, seconds in self._done[group])
        return [each for each in left if not slow.isdisjoint(words_of(each.nodeid))]


def _typical(took: "list[float]") -> float:
    """Return what a test is likely to take. The longest may have prepared something for all others."""
    return (sum(took) - max(took)) / (len(took) - 1) if len(took) > 1 else took[0]


def _slow_kinds(done: "list[_Done]") -> "set[str]":
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
