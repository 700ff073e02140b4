"""A test that takes longer than it is given is ended, and nothing else is."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType

import pytest

from app.runners.evaluators.testing.pytest_runner.limits import CutError, CutTeardownError, TestLimits

# The limit of the suite takes the same alarm.
pytestmark = pytest.mark.timeout(0)

TEST = "t.py::test_waits"


@pytest.fixture(autouse=True)
def no_alarm_is_left() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before


def wait() -> None:
    while True:
        signal.pause()


def test_what_never_ends_is_ended_even_if_it_goes_on_once() -> None:
    limits = TestLimits({TEST: 0.1})

    def wait_twice() -> None:
        with suppress(BaseException):
            wait()
        wait()

    with pytest.raises(CutError, match=r"longer than 0\.10 s"), limits.around(f"{TEST}[1]"):
        wait_twice()
    assert limits.cut == {f"{TEST}[1]"}


def test_an_end_that_never_ends_is_no_cut_test() -> None:
    limits = TestLimits({TEST: 0.1})
    with pytest.raises(CutTeardownError, match=r"longer than 0\.10 s"), limits.around_end(TEST):
        wait()
    assert limits.cut == set()
    with pytest.raises(CutError), limits.around(TEST):
        wait()


def test_what_ends_in_time_is_left_alone() -> None:
    limits = TestLimits({TEST: 600.0})
    with limits.around(TEST):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert limits.cut == set()


def test_a_function_without_a_limit_sets_no_alarm() -> None:
    with TestLimits({TEST: 600.0}).around("t.py::test_other"):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_test_with_an_alarm_of_its_own_keeps_it() -> None:
    heard: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        heard.append(number)

    limits = TestLimits({TEST: 600.0})
    with limits.around(TEST):
        signal.signal(signal.SIGALRM, hear)
        signal.raise_signal(signal.SIGALRM)
    assert heard == [signal.SIGALRM]
    assert limits.cut == set()


def test_one_tick_ends_no_test_and_eight_do() -> None:
    limits = TestLimits({TEST: 600.0})
    with limits.around(TEST):
        for _ in range(7):
            signal.raise_signal(signal.SIGALRM)
        assert limits.cut == set()
        with pytest.raises(CutError):
            signal.raise_signal(signal.SIGALRM)
