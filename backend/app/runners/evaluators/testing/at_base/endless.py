"""Handles tests that never end at the base either, or end the process there: the others run without them.

A test that never ends is waited for once. With one that ends the process, its whole file is left out, because
the others of the file often do the same, and each would cost a run. If one stops the run in order, the tests
before it are judged.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.tooling import stretched
from app.schemas.baseline import Baseline

MOST_ENDLESS = 2
"""Limit on left-out tests in one evaluation. With more, the project's test suite does not end here."""

_ALONE_SECONDS = 10.0
_STOPPED = (PytestEnding.TIMED_OUT, PytestEnding.TORN)
_ENDS_PROCESS = "ends the process of the tests, in the base, too"
_STOPS = "stops the run of all tests, in the base, too"
_WITH = "did not run, as "


class RunAtBase(Protocol):
    """Runs tests of the base on the base's own code."""

    def __call__(
        self, files: Collection[str], ids: Collection[str], *, seconds: float
    ) -> Awaitable[RunReport]:
        """Run some tests of some files, with a time limit in seconds."""
        ...


@dataclass(slots=True)
class Endless:
    """The known tests that never end, or end the process.

    Attributes:
        harness: how the tests run.
        at_base: runs them on the base's own code.
        whole: runs all of them there.
        baseline: of the run, if there is one; it may name such a test.
        known: by id, why a test was left out.
    """

    harness: Harness
    at_base: RunAtBase
    whole: Callable[[], Awaitable[RunReport]]
    baseline: Baseline | None = None
    known: dict[str, str] = field(default_factory=dict[str, str])
    _found: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False)

    async def why(self, name: str) -> str:
        """Return a message if a test does not end at the base either or ends the process there, else `""`.

        The test runs alone there, so that the base does not take as long again.
        """
        if name not in self._found:
            self._found[name] = await self._tried(name)
        return self._found[name]

    async def past(self, tree: RunTree | None, report: RunReport | None) -> RunReport | None:
        """Run the other tests once more, if a run stopped at a test that does the same at the base.

        Args:
            tree: the tree that ran.
            report: the report of that run.
        """
        if tree is None or report is None:
            return report
        report = await self._without_cut(await self._past_each(tree, report))
        is_stopped = report.ending is PytestEnding.COMPLETE and report.unfinished
        return await self._past_stop(tree, report) if is_stopped else report

    async def _past_each(self, tree: RunTree, report: RunReport) -> RunReport:
        """Leave out one test after the other that never ends or ends the process."""
        while report.ending in _STOPPED:
            name = report.unfinished[0] if report.unfinished else ""
            is_one_too_many = name not in self.known and self._count() >= MOST_ENDLESS
            why = await self.why(name) if name and not is_one_too_many else ""
            if not why:
                break
            self._leave_out(name, why, report)
            left = [each for each in report.ids if each not in self.known]
            if not left:
                break
            report = await self.harness.run(tree, ids=left)
        return report

    async def _without_cut(self, report: RunReport) -> RunReport:
        """Leave out the tests that were ended, if they do not end at the base either."""
        for name in report.cut:
            if self._count() < MOST_ENDLESS and (why := await self.why(name)):
                self.known[name] = why
        left = report.without([each for each in report.cut if each in self.known])
        if report.cut and not left.tests:
            # Nothing is left to be judged, as if the run had never ended.
            return replace(report, ending=PytestEnding.TIMED_OUT, tests={})
        return left

    async def _past_stop(self, tree: RunTree, report: RunReport) -> RunReport:
        """Leave out the tests before which a run stopped, if the base's own run stops no later.

        Those before it run once more, because a run that stops lacks its last control tests. A fixture that
        misses a server may call `pytest.exit`, for example.
        """
        there = await self.whole()
        first, *others = report.unfinished
        is_same = there.ending is PytestEnding.COMPLETE and {first, *others} <= set(there.unfinished)
        if not (is_same and any(each.ok for each in there.tests.values())):
            return report
        after = "another one" if len(others) == 1 else f"{len(others)} others"
        self.known[first] = f"{_STOPS}, so {after} did not run" if others else _STOPS
        self.known |= dict.fromkeys(others, f"{_WITH}`{first}` {_STOPS}")
        return await self.harness.run(tree, ids=[each for each in report.ids if each not in self.known])

    def kept_from(self, lost: Collection[str]) -> list[str]:
        """Return the lost tests without those that were left out."""
        functions = {function_of(each) for each in self.known}
        return [each for each in lost if each not in self.known and each not in functions]

    def _count(self) -> int:
        return sum(not is_left_out_with_another(why) for why in self.known.values())

    def _leave_out(self, name: str, why: str, report: RunReport) -> None:
        self.known[name] = why
        if report.ending is PytestEnding.TORN:
            others = [
                each for each in report.ids if file_of(each) == file_of(name) and each not in self.known
            ]
            self.known |= dict.fromkeys(others, f"{_WITH}`{name}` {why}")
            if others:
                self.known[name] = f"{why}, so {len(others)} others of its file did not run"

    async def _tried(self, name: str) -> str:
        if self.baseline is not None and self.baseline.waits_for == name:
            return _words(self.baseline.limit)
        longest = stretched(self.harness.limit_of_test)
        limit = min(self.harness.seconds, max(_ALONE_SECONDS, longest / 4))
        alone = await self.at_base({file_of(name)}, [name], seconds=limit)
        if alone.ending is PytestEnding.TORN:
            return _ENDS_PROCESS
        is_endless = name in alone.cut or alone.ending is PytestEnding.TIMED_OUT
        return _words(alone.seconds) if is_endless else ""


def stops_all(why: str) -> bool:
    """Return True if a test stops the run, so that not only its own file did not run."""
    return why.startswith(_STOPS)


def is_left_out_with_another(why: str) -> bool:
    """Return True if a test was left out because another one ends the process or stops the run."""
    return why.startswith(_WITH)


def _words(seconds: float) -> str:
    return f"does not end within {seconds:.0f} seconds in the base either"
