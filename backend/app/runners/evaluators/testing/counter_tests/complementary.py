"""Makes two versions of test files, of which each has the wrong expectations that the other lacks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from app.runners.evaluators.testing.counter_tests.comparing import CounterTestResult
from app.runners.evaluators.testing.counter_tests.data_files import read_data_files
from app.runners.evaluators.testing.counter_tests.drawing import Unit, WrongExpectation, draw_all, draw_data
from app.runners.evaluators.testing.counter_tests.reading import TestFile
from app.runners.evaluators.testing.counter_tests.sampling import CounterTestBudget, RunTimes
from app.runners.evaluators.testing.counter_tests.sites import DataPlace
from app.runners.evaluators.testing.counter_tests.versions import Version, changed_version
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree


@dataclass(frozen=True, slots=True)
class ComplementaryVersions:
    """Makes pairs of versions.

    Attributes:
        tree: the tree that ran.
        files: its test files, by name.
        times: how long its tests took.
        budget: if not all tests of the files fit, the others are hidden.
        chance: draws the changes, and the version of each.
    """

    tree: RunTree
    files: Mapping[str, TestFile]
    times: RunTimes
    budget: CounterTestBudget
    chance: Random

    def changed(
        self, units: Sequence[Unit], wanted: Collection[str], before: Mapping[str, CounterTestResult]
    ) -> tuple[Version, Version] | None:
        """Draw changes, and assign each to one of two versions by chance. Return None if there are none."""
        tried = {test: each.change for test, each in before.items()}
        changes = draw_all(units, self.chance, wanted, tried)
        if not changes:
            return None
        heads: list[WrongExpectation] = []
        tails: list[WrongExpectation] = []
        for each in changes:
            self.chance.choice((heads, tails)).append(each)
        return self.of(units, heads, tails)

    def with_data(
        self,
        place: DataPlace,
        units: Sequence[Unit],
        wanted: Collection[str],
        before: Mapping[str, CounterTestResult],
    ) -> tuple[Version, Version] | None:
        """Make one expectation of data files wrong in one of two versions.

        Return None if that is not certain.
        """
        tried = {test: each.change for test, each in before.items()}
        changes = draw_data(units, place, wanted, read_data_files(self.tree), self.chance, tried)
        if not changes:
            return None
        nothing: list[WrongExpectation] = []
        heads, tails = self.chance.choice(((changes, nothing), (nothing, changes)))
        return self.of([each.unit for each in changes], heads, tails)

    def of(
        self, units: Sequence[Unit], heads: Sequence[WrongExpectation], tails: Sequence[WrongExpectation]
    ) -> tuple[Version, Version]:
        names = {unit.file.name for unit in units} | {file_of(test) for unit in units for test in unit.tests}
        all_fit = self.times.of_files(names) <= self.budget.test_seconds(self.times.whole)
        run = None if all_fit else units
        files = [self.files[name] for name in sorted(names)]
        one, other = (changed_version(files, each, run, self._comment()) for each in (heads, tails))
        return one, other

    def _comment(self) -> str:
        return str(self.chance.randrange(10**6, 10**7))
