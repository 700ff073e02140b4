"""Limits the time for counter-tests, and draws the tests that fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.layout.inventory import function_of
from app.runners.evaluators.testing.running.report import RunReport


@dataclass(frozen=True, slots=True)
class CounterTestBudget:
    """How long counter-tests may take.

    Attributes:
        free: seconds of tests up to which all run again.
        share: which share of the tests' own time each run may take if that is at least twice `free`. In
            between, the seconds fall evenly.
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
    pairs: int = 1
    patience: float = 3.0
    most: float = 0.5
    test_patience: float = 10.0
    test_least: float = 1.25
    test_share: float = 0.05

    def rounds(self, plain: RunReport) -> int:
        """Return the number of pairs of runs, not counting the one for a second change."""
        return 1 if self.is_long(plain) else self.pairs

    def is_long(self, plain: RunReport) -> bool:
        """Return True if the tests take too long for all of them to run again."""
        return sum(each.seconds for each in plain.tests.values()) > self.free

    def test_seconds(self, whole: float) -> float:
        """Return the seconds of tests that fit, of `whole` seconds."""
        return self.free if whole <= self.free else max(self.share * whole, 2 * self.free - whole)

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


def sample(units: Sequence[Unit], plain: RunReport, budget: CounterTestBudget, chance: Random) -> list[Unit]:
    """Draw test functions whose tests fit the budget, in the order of the run."""
    seconds = [sum(plain.tests[test].seconds for test in unit.tests if test in plain.tests) for unit in units]
    left = budget.test_seconds(sum(each.seconds for each in plain.tests.values()))
    order = list(range(len(units)))
    chance.shuffle(order)
    chosen: set[int] = set()
    for index in order:
        if seconds[index] <= left:
            left -= seconds[index]
            chosen.add(index)
    return [unit for index, unit in enumerate(units) if index in chosen]
