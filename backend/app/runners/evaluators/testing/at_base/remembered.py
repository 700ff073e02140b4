"""Uses a stored baseline instead of running the base's tests. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    PytestEnding,
    RanTest,
    RunReport,
)
from app.schemas.baseline import Baseline, RedTest


@dataclass(frozen=True)
class Remembered:
    """The results of the base's tests when the run started.

    Attributes:
        baseline: a complete one, of the same base, environment and rules.
    """

    baseline: Baseline

    @cached_property
    def red(self) -> frozenset[str]:
        """Tests that fail in every run."""
        return frozenset(each.id for each in self.baseline.red)

    @cached_property
    def varying(self) -> frozenset[str]:
        """Red tests that fail in different words from run to run."""
        return frozenset(each.id for each in self.baseline.red if each.message and not each.signature)

    @cached_property
    def flaky(self) -> frozenset[str]:
        """Tests that pass in some runs and fail in others."""
        return frozenset(each.id for each in self.baseline.flaky)

    def knows(self, ids: Collection[str]) -> bool:
        """Return True if each of these tests ran at the base, or its file could not be loaded there."""
        return all(each in self._tests or file_of(each) in self._unreadable for each in ids)

    def report(
        self,
        files: Collection[str] | None = None,
        ids: Collection[str] | None = None,
        *,
        flaky: Outcome = Outcome.PASSED,
    ) -> RunReport:
        """Return the report that a run of the base's tests would have.

        Args:
            files: the files to run; None means all.
            ids: the tests of these files to run; None means all.
            flaky: the outcome of tests that both pass and fail.
        """
        tests = {
            name: _ended(test, flaky) if name in self.flaky else test
            for name, test in self._tests.items()
            if (files is None or file_of(name) in files) and (ids is None or name in ids)
        }
        problems = [
            CollectProblem(each.id, skipped=False, message=each.message)
            for each in self.baseline.unreadable
            if files is None or file_of(each.id) in files
        ]
        return RunReport(
            PytestEnding.COMPLETE,
            code=1 if problems or any(each.bad for each in tests.values()) else 0,
            ids=tuple(tests),
            tests=tests,
            problems=tuple(problems),
            forged=tuple(self.baseline.forged),
        )

    @cached_property
    def _tests(self) -> Mapping[str, RanTest]:
        found = self.baseline
        made = [RanTest(each, Outcome.PASSED, 0.0, "") for each in found.passing]
        made += [RanTest(each, Outcome.SKIPPED, 0.0, "") for each in found.skipped]
        made += [_red(each) for each in found.red]
        made += [RanTest(each.id, Outcome.FAILED, 0.0, each.message) for each in found.flaky]
        return {each.id: each for each in made}

    @cached_property
    def _unreadable(self) -> frozenset[str]:
        return frozenset(file_of(each.id) for each in self.baseline.unreadable)


def ran_endless(baseline: Baseline, report: RunReport, seconds: float) -> bool:
    """Return True if the base's tests did not end with at least `seconds` for one, as in a run now."""
    return bool(baseline.waits_for) and report.ending is PytestEnding.TIMED_OUT and baseline.limit >= seconds


def _red(test: RedTest) -> RanTest:
    files = tuple(test.files)
    return RanTest(test.id, Outcome.FAILED, 0.0, test.message, files, sought_network=test.needs_network)


def _ended(test: RanTest, outcome: Outcome) -> RanTest:
    return RanTest(test.id, outcome, test.seconds, test.message, test.files)
