"""Ends single tests that exceed their time limit, so that later tests run."""

import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import pytest

from .ids import function_of

_TICKS = 8
_STUCK = 2.5
"""After so many times its limit on the processor, a test is in a call into C that never returns."""
_HYPOTHESIS_PLUGIN = "hypothesispytest"
_PROFILE = "phaserunner"
_FOR_READERS = ("shrink", "explain")
"""Phases of Hypothesis that only change which failure it shows."""


def lift_deadlines(config: pytest.Config) -> None:
    """Keep Hypothesis from measuring time, unless a test sets a deadline itself.

    Its default of 200 ms for an example measures the machine: on a busy one, honest tests fail. Where no
    failure is shown, it does not look for the smallest example either, which may take minutes.
    """
    if not ("hypothesis" in sys.modules or config.pluginmanager.hasplugin(_HYPOTHESIS_PLUGIN)):
        return
    try:
        from hypothesis import HealthCheck, settings  # noqa: PLC0415 - few projects have it
    except ImportError:
        return
    now: Any = settings.default
    slow = [*{*now.suppress_health_check, HealthCheck.too_slow}]
    is_shown = config.option.tbstyle != "no"
    phases = [each for each in now.phases if is_shown or each.name not in _FOR_READERS]
    settings.register_profile(_PROFILE, parent=now, deadline=None, suppress_health_check=slow, phases=phases)
    settings.load_profile(_PROFILE)


class SteadyHypothesis:
    """The pytest plug-in for the run away from the code; see `lift_deadlines`."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Change the project's settings once its conftests have made them."""
        lift_deadlines(config)


class CutError(BaseException):
    """A test exceeded its time limit."""


class CutTeardownError(Exception):
    """The end of a test exceeded the test's time limit. pytest goes on with whatever else ends with it."""


class TestLimits:
    """Ends tests by a signal in the main thread, where Python runs the handler between two instructions.

    The time of a test is counted in ticks. While the machine does not run the process, all missed ticks count
    as one, so a busy machine ends no test.

    A test that sets an alarm itself removes this one, and then only the limit of the whole run ends it.

    A call into C that never returns, such as `sum(itertools.count())`, keeps Python from handling signals.
    Once the test has used several times its limit on the processor, the system ends the process (SIGVTALRM).

    Attributes:
        cut: ids of the tests that were ended.

    Args:
        seconds: how long a test may take, by the id of its function; other functions have no limit.
    """

    __test__ = False  # pytest would treat a class with this name as one with tests

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds
        self._running = ""
        self._is_ending = False
        self._ticks = 0
        self.cut: set[str] = set()

    def around_end(self, test: str) -> AbstractContextManager[None]:
        """Limit the end of a test to the same time. A `CutTeardownError` interrupts it after that.

        A fixture may wait forever for what a failed test did not do. It does not count as cut.
        """
        self._is_ending = True
        return self.around(test)

    @contextmanager
    def around(self, test: str) -> Generator[None]:
        """Limit the block to the time of a test. A `CutError` interrupts it after that."""
        seconds = self._seconds.get(function_of(test))
        if seconds is None:
            self._is_ending = False
            yield
            return
        before = signal.signal(signal.SIGALRM, self._tick)
        self._running, self._ticks = test, 0
        signal.setitimer(signal.ITIMER_REAL, seconds / _TICKS, seconds / _TICKS)
        signal.setitimer(signal.ITIMER_VIRTUAL, _STUCK * seconds)
        try:
            yield
        finally:
            self._running, self._is_ending = "", False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            with suppress(TypeError):  # the earlier handler was not set from Python
                signal.signal(signal.SIGALRM, before)

    def _tick(self, _number: int, _frame: Any) -> None:
        self._ticks += 1
        # It interrupts the test repeatedly, because the interrupted code may catch the error and go on.
        if not self._running or self._ticks % _TICKS:
            return
        why = f"it took longer than {self._seconds[function_of(self._running)]:.2f} s"
        if self._is_ending:
            raise CutTeardownError(why)
        self.cut.add(self._running)
        raise CutError(why)
