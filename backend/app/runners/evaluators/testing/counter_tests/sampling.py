"""Limits the time for counter-tests, and draws the tests that fit."""

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.running.report import RunReport

_FAR = 1000
"""More steps than any test is away from a change."""

_FOR_NEAREST = 0.75
"""Share of the time that goes to the tests nearest to the change."""

_MOST_BESIDE = 2.5
"""How many times as long as its tests a run may seem to take, with all that it does beside them."""

_FALL = 3.7
"""By how many seconds less each run may take for each second above `free`."""


@dataclass(frozen=True, slots=True)
class CounterTestBudget:
    """How long counter-tests may take.

    Attributes:
        free: seconds of the plain run up to which all tests run again.
        share: which share of the plain run's time each run may take if that is long.
        least: seconds that each run may always take.
        fixed: seconds that all runs together take beside the tests. If the plain run is not much longer than
            `free`, each may take half of what is left of its time without them.
        pairs: the number of pairs of runs if the tests take no longer than `free`; otherwise one.
        patience: time limit of one run, as a multiple of the plain run's time. It shares the machine with the
            other run, and failing tests take longer than passing ones.
        most: the time after which no further check starts, as a share of the plain run's time, but at least
            `free`. A panel with a limit of twice the plain tests leaves no more.
        test_patience: time limit of one test, as a multiple of its time in the plain run.
        test_least: least time limit of one test in seconds. Code that searches the memory for a wrong
            expectation takes longer than for the true one.
        test_share: the share of the plain run's time that is added to this least limit. So the limit is
            longer on a slower machine, and a run survives several tests that never end.
    """

    free: float = 4.0
    share: float = 0.35
    least: float = 1.8
    fixed: float = 3.5
    pairs: int = 1
    patience: float = 3.0
    most: float = 0.5
    test_patience: float = 10.0
    test_least: float = 1.25
    test_share: float = 0.05

    def rounds(self, whole: float) -> int:
        """Return the number of pairs of runs, not counting the one for a second change."""
        return 1 if self.is_long(whole) else self.pairs

    def is_long(self, whole: float) -> bool:
        """Return True if tests that take `whole` seconds take too long for all of them to run again."""
        return whole > self.free

    def test_seconds(self, whole: float) -> float:
        """Return how many of the plain run's `whole` seconds one more run may take."""
        if whole <= self.free:
            return self.free
        usual = max(self.least, min(self.share * whole, (whole - self.fixed) / 2))
        return max(usual, self.free - _FALL * (whole - self.free))

    def most_seconds(self, plain: float) -> float:
        """Return the seconds after which no further check starts, if the plain run took `plain`."""
        return max(self.free, self.most * plain)

    def run_seconds(self, plain: float, most: float) -> float:
        """Return the time limit of a run in seconds, if the plain one took `plain`; at most `most`."""
        return min(most, self.free + self.patience * plain)

    def limits(self, plain: RunReport) -> dict[str, float]:
        """Return the seconds that one test may take, by the id of its function.

        A function's tests have one limit, because a changed parameter may change their ids.
        """
        least = self.test_least + self.test_share * plain.seconds
        limits: dict[str, float] = {}
        for each in plain.tests.values():
            name = function_of(each.id)
            limits[name] = max(limits.get(name, least), self.test_patience * each.seconds)
        return limits


class RunTimes:
    """How long tests took, with their share of the time in which a run collects tests and reports results.

    Args:
        plain: the report of the run.
    """

    def __init__(self, plain: RunReport) -> None:
        self._seconds = {name: each.seconds for name, each in plain.tests.items()}
        of_tests = sum(self._seconds.values())
        # If several processes ran the tests, they took less time than the tests together. A run of a few
        # short tests mostly starts, which takes seconds on a busy machine and says nothing about the tests.
        self.whole = max(of_tests, min(plain.seconds, _MOST_BESIDE * of_tests))
        """The seconds of all tests."""
        self._share = self.whole / of_tests if of_tests else 1.0

    def of(self, tests: Iterable[str]) -> float:
        """Return the seconds of some tests; those that did not run take none."""
        return self._share * sum(self._seconds.get(each, 0.0) for each in tests)

    def of_files(self, files: Collection[str]) -> float:
        """Return the seconds of all tests in some files."""
        return self.of(each for each in self._seconds if file_of(each) in files)


def chance_of(seed: int | None) -> Random:
    """Return the source of chance; without a seed, an unknown one."""
    # The choices are written into the test files before the run, so predicting them gains nothing.
    return Random(secrets.randbits(64) if seed is None else seed)  # noqa: S311 - seeded when repeated; no secret


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near tests are to what a change is about, so that these come first in a sample.

    Attributes:
        is_wanted: whether the goal names a test.
        distances: by name, the number of steps in which code that has it leads to changed code.
    """

    is_wanted: Callable[[str], bool] = lambda _: False
    distances: Mapping[str, int] = field(default_factory=dict[str, int])

    def of(self, unit: Unit) -> int:
        """Return a number that is lower for tests that are nearer."""
        if any(map(self.is_wanted, unit.tests)):
            return -1
        return min((self.distances.get(each, _FAR) for each in unit.function.words), default=_FAR)


def sample(
    units: Sequence[Unit], times: RunTimes, budget: CounterTestBudget, chance: Random, nearness: Nearness
) -> list[Unit]:
    """Draw test functions whose tests fit the budget, in the order of the run.

    Most of the time goes to the tests that are nearest to the change, and the rest to any.
    """
    seconds = [times.of(unit.tests) for unit in units]
    most = budget.test_seconds(times.whole)
    order = list(range(len(units)))
    chance.shuffle(order)
    nearest = (
        sorted(order, key=lambda index: nearness.of(units[index])) if budget.is_long(times.whole) else order
    )
    spent = 0.0
    chosen: set[int] = set()
    for indexes, limit in ((nearest, _FOR_NEAREST * most), (order, most)):
        for index in indexes:
            if index not in chosen and spent + seconds[index] <= limit:
                spent += seconds[index]
                chosen.add(index)
    return [unit for index, unit in enumerate(units) if index in chosen]
