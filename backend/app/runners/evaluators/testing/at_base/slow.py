"""Handles tests that a run left out because they take too long: the base must leave them out as well."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.pytest_runner.ids import words_of
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness

RunShort = Callable[[], Awaitable[RunReport]]
"""Runs all tests of the base on the base's own code, with the same limits."""

IsGoal = Callable[[str], bool]
"""Returns True if the goal names a test."""

_SLOW = "was left out: at the base, too, there is no time for it"
_SLOW_HERE = "was left out: there is no time for it, and it fails at the base"
_SLOW_AND_RED = "was left out: at the base, too, there is no time for it, and its like fail there"


@dataclass(slots=True)
class SlowTests:
    """The tests that are left out.

    Attributes:
        harness: runs the tests for which the base had time.
        at_base: the control.
        short: set as soon as a run leaves out a test, so that the control begins beside it.
        known: by id, why a test was left out.
    """

    harness: Harness
    at_base: RunShort
    short: asyncio.Event = field(default_factory=asyncio.Event)
    known: dict[str, str] = field(default_factory=dict[str, str])
    _control: asyncio.Task[RunReport] | None = field(default=None, init=False, repr=False)

    async def past(self, tree: RunTree | None, report: RunReport | None, is_goal: IsGoal) -> RunReport | None:
        """Run the tests that the base did not leave out and those of the goal, and note the others.

        Args:
            tree: the tree that ran.
            report: the report of that run.
            is_goal: says which tests must run in any case.
        """
        if tree is None or report is None or not report.left_out:
            return report
        there = await self.control()
        excused = self._excused(report, there, is_goal)
        self.known |= excused
        owed = [each for each in report.left_out if each not in excused]
        report = replace(report, left_out=tuple(excused))
        return joined(report, await self.harness.run(tree, ids=owed)) if owed else report

    async def control(self) -> RunReport:
        """Return what the base's own code did."""
        return await self._begun()

    async def watch(self) -> None:
        """Begin the control as soon as a run leaves out a test."""
        await self.short.wait()
        self._begun()

    def _begun(self) -> asyncio.Task[RunReport]:
        if self._control is None:
            self._control = asyncio.ensure_future(self.at_base())
        return self._control

    async def close(self) -> None:
        """End the control if it still runs."""
        if self._control is not None:
            self._control.cancel()
            await asyncio.wait([self._control])
            if not self._control.cancelled():
                self._control.exception()  # matters only to a caller that waits for the report

    def seen_of(self, files: Collection[str] | None, ids: Collection[str] | None) -> RunReport | None:
        """Return what the control says about some tests; None if there was none.

        Args:
            files: the files with the tests; None means all.
            ids: the tests of these files; None means all. The report lacks those that the control left out.
        """
        if self._control is None or not self._control.done() or self._control.cancelled():
            return None
        there = self._control.result()
        return part_of(there, files, ids) if there.ending is PytestEnding.COMPLETE else None

    def _excused(self, report: RunReport, there: RunReport, is_goal: IsGoal) -> Mapping[str, str]:
        if there.ending is not PytestEnding.COMPLETE:
            return {}
        kinds, left, known = _kinds_that_pass(there), set(there.left_out), set(there.ids)
        left_kinds, red = set(map(_kind_of, left)), {each.id for each in there.failures}
        found: dict[str, str] = {}
        for each in report.left_out:
            # A test that the base does not have is compared with those of its kind.
            is_slow = each in left or (each not in known and _kind_of(each) in left_kinds)
            if is_goal(each):
                continue
            if is_slow:
                found[each] = _SLOW if _kind_of(each) in kinds else _SLOW_AND_RED
            elif left and each in red:
                # It would only fail once more, and often waits for what is not there.
                found[each] = _SLOW_HERE
        return found


def fails_at_base(why: str) -> bool:
    """Return True if a reason says that the base had time for the test, and that it fails there."""
    return why == _SLOW_HERE


def is_red_too(why: str) -> bool:
    """Return True if a reason says that the base fails tests like the one that was left out."""
    return why == _SLOW_AND_RED


_Kind = tuple[str, frozenset[str]]


def _kind_of(test: str) -> _Kind:
    """Return the file of a test and the words in its parameters. One kind waits for the same thing."""
    return file_of(test), words_of(test)


def _kinds_that_pass(there: RunReport) -> set[_Kind]:
    """Return the kinds of tests of which some passed or were skipped, or none ended."""
    left = {_kind_of(each) for each in there.left_out}
    bad = {_kind_of(each.id) for each in there.failures}
    good = {_kind_of(each.id) for each in there.tests.values() if not each.bad}
    return good | (left - bad)


def part_of(report: RunReport, files: Collection[str] | None, ids: Collection[str] | None) -> RunReport:
    """Return a report of all tests as if only those in some files had run, or some of these."""
    chosen = report.ids if ids is None else ids
    kept = {each for each in chosen if files is None or file_of(each) in files}
    return report.without([each for each in report.ids if each not in kept])


def joined(report: RunReport, more: RunReport) -> RunReport:
    """Return a run together with a second one of tests that are not in the first."""
    whole = more.ending is PytestEnding.COMPLETE
    return replace(
        report,
        ending=report.ending if whole else more.ending,
        code=report.code or more.code,
        ids=tuple(dict.fromkeys((*report.ids, *more.ids))),
        tests={**report.tests, **more.tests},
        forged=tuple(dict.fromkeys((*report.forged, *more.forged))),
        canaries_ran=report.canaries_ran and more.canaries_ran,
        altered=tuple(dict.fromkeys((*report.altered, *more.altered))),
        noticed={**more.noticed, **report.noticed},
        text="\n".join((report.text, more.text)),
        seconds=report.seconds + more.seconds,
    )
