"""Ends single tests that take longer than they are given, so that those after them run."""

import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


class CutError(BaseException):
    """A test took longer than it was given."""


class TestLimits:
    """Ends tests by a signal in the main thread, where Python runs the handler between two instructions.

    A test that sets an alarm itself takes this one away; then only the limit of the whole run ends it. So
    does one call into C that never returns.

    Attributes:
        cut: ids of the tests that were ended.

    Args:
        seconds: how long a test may take, by the id of its function; functions that are not there are free.
    """

    __test__ = False  # pytest takes a class of this name for one with tests

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds
        self._running = ""
        self.cut: set[str] = set()

    @contextmanager
    def around(self, test: str) -> Generator[None]:
        """Limit what is done inside to the time of a test; what takes longer is interrupted by `CutError`."""
        seconds = self._seconds.get(test.partition("[")[0])
        if seconds is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._end)
        self._running = test
        # It comes again: code that is interrupted may keep the error to itself and go on.
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        try:
            yield
        finally:
            self._running = ""
            signal.setitimer(signal.ITIMER_REAL, 0)
            with suppress(TypeError):  # the handler before it was not set from Python
                signal.signal(signal.SIGALRM, before)

    def _end(self, _number: int, _frame: Any) -> None:
        if self._running:
            self.cut.add(self._running)
            raise CutError(f"it took longer than {self._seconds[self._running.partition('[')[0]]:.2f} s")
