"""Runs the base's tests away from the candidate's code, in parallel with the normal run."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.layout.trees import Layout, RunTree
from app.runners.evaluators.testing.pytest_outside.outside_report import OutsideReport
from app.runners.evaluators.testing.pytest_outside.outside_run import Outside, OutsideRun
from app.runners.evaluators.testing.running.report import RanTest
from app.runners.evaluators.testing.running.run import Harness

_QUICK = 1.0
"""Seconds: a test that takes less beside the code does not wait for anything there."""

_SHORT = 10.0
"""Seconds that both runs may take if the first took no time. With less, code that only waits away from the
tests could go unnoticed."""

_LESS = 1.4
"""How many of these seconds each second beside the code costs."""

_MORE = 0.35
"""Share of the time beside the code that the run away from it gets on top."""

_PATIENCE = 1.5
"""How much longer the same tests may take with the base's code, because the machine may be busier then."""

_MOST_ABSENT = 24
"""Tests of which the base's code shows whether it gives them an answer."""

_TO_END = 5.0
"""Seconds in which an early run may end at its next test, so that its results so far are kept."""


class Away:
    """One run away from the candidate's code, started before the results beside the code are known.

    Most attempts whose tests run to the end pass, so starting early saves time. Results of other tests are
    not used.
    """

    def __init__(self, harness: Harness, tree: RunTree | None) -> None:
        self._harness = harness
        self._tree = tree
        self._files = frozenset[str]()
        self._stop = asyncio.Event()
        self._early: asyncio.Task[OutsideRun] | None = None
        self._part: OutsideRun | None = None

    @classmethod
    @asynccontextmanager
    async def beside(cls, harness: Harness, layout: Layout, *, wanted: bool) -> "AsyncGenerator[Away]":
        """Start the run. End what is still running at the end of the block.

        Args:
            harness: how the tests run beside the candidate's code.
            layout: the trees to run.
            wanted: False runs nothing.
        """
        away = cls(harness, layout.base_run if wanted else None)
        # Unconfined runs would disturb each other, because they share ports and temporary files.
        if away._tree is not None and (await harness.sandbox.state()).confined:
            away._begin(away._tree, layout.base_tests)
        try:
            yield away
        finally:
            await away._end()

    async def report(
        self, passed: Sequence[RanTest], base: BaseTests, seconds: float
    ) -> OutsideReport | None:
        """Return what tests that passed beside the code do away from it, or None if no run was wanted.

        If the run fails, the existing evidence stays as it is.

        Args:
            passed: the tests.
            base: a control for findings.
            seconds: how long the tests took beside the code. This run may take a third as long again; tests
                that it does not reach by then are not judged.
        """
        if self._tree is None:
            return None
        more = time_left(seconds)
        whole = seconds + more
        left = whole if self._early is None and self._part is None else more
        asyncio.get_running_loop().call_later(left, self._stop.set)
        try:
            async with asyncio.timeout(3 * left + _SHORT):
                report = await self._report(self._tree, passed, left)
            # A finding has a limit apart. Otherwise code that only waits leaves no time to confirm it.
            async with asyncio.timeout(3 * (whole + _SHORT)):
                report = await self._controlled(report, self._tree, passed, base, whole)
            return replace(report, absent=await self._absent(report.absent, self._tree, base, whole))
        except TimeoutError:
            return OutsideReport(trouble="The second process did not finish in time")
        except OSError as error:
            return OutsideReport(trouble=f"The second process could not be started: {error}")

    async def make_room(self) -> None:
        """End the early run, so that failing tests run again without it. `report` runs what is left.

        Code that does not let it end in time loses what it has shown, and all tests run again.
        """
        if self._early is None:
            return
        self._stop.set()
        await asyncio.wait([self._early], timeout=_TO_END)
        if self._early.done() and self._early.exception() is None:
            self._part = self._early.result()
        await self._end()
        self._early, self._stop = None, asyncio.Event()

    async def _controlled(
        self, report: OutsideReport, tree: RunTree, passed: Sequence[RanTest], base: BaseTests, budget: float
    ) -> OutsideReport:
        """Keep findings against the candidate only if they do not also apply to the base.

        If any are left, judge the candidate once more, because chance does not repeat them.
        """
        ids = [each.id for each in passed]
        if report.repeating:
            honest = await base.away.repeating(ids, tree.trusted, _PATIENCE * budget)
            new = tuple(each for each in report.repeating if each.name not in honest)
            report = replace(report, repeating=new)
        # The base comes first, because it usually clears tests that no link between processes can carry.
        unlike = await base.away.unlike(report.disagrees, ids, tree.trusted, _PATIENCE * budget)
        report = report.without(unlike)
        if not report.disagrees:
            return report
        again = await Outside(self._harness).judge(tree, ids, quick=_quick(passed), budget=budget)
        return report.confirmed_by(again)

    async def _absent(
        self, absent: Mapping[str, str], tree: RunTree, base: BaseTests, budget: float
    ) -> Mapping[str, str]:
        """Return the tests to which the base's code gives an answer, and the candidate's twice gives none.

        Both get as long as the whole run. If the base's code does not end by then, nothing is known; if the
        candidate's does not, it gives no answer once more.
        """
        chosen = list(dict.fromkeys([*_one_of_each_file(absent), *absent]))[:_MOST_ABSENT]
        ids = [each for each in absent if each in chosen]
        if not ids:
            return {}
        limit = 3 * budget + _SHORT
        answered, again = frozenset[str](), absent
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                answered = await base.away.answers(ids, tree.trusted, budget)
        if not answered:
            return {}
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                again = (await Outside(self._harness).judge(tree, sorted(answered), budget=budget)).absent
        return {each: again[each] for each in ids if each in answered and each in again}

    async def _report(self, tree: RunTree, passed: Sequence[RanTest], budget: float) -> OutsideReport:
        ids, quick = [each.id for each in passed], _quick(passed)
        # Only the run beside the code shows which other files hold doctests.
        needed = tree.trusted.intersection(map(file_of, ids))
        if self._part is not None and needed.issubset(self._files):
            left = self._part.left_of(ids)
            more = await Outside(self._harness).run(
                tree, set(map(file_of, left)), left, budget=budget, stop=self._stop
            )
            return await asyncio.to_thread(self._part.joined(more).report, ids, quick)
        if self._early is None or not needed.issubset(self._files):
            await self._end()
            return await Outside(self._harness).judge(tree, ids, quick=quick, budget=budget, stop=self._stop)
        early = await self._early
        return await asyncio.to_thread(early.report, ids, quick)

    def _begin(self, tree: RunTree, files: Sequence[str]) -> None:
        self._files = frozenset(files)
        self._early = asyncio.create_task(Outside(self._harness).run(tree, files, stop=self._stop))

    async def _end(self) -> None:
        if self._early is not None:
            self._early.cancel()
            # A failure there matters only to a caller that asks for the report.
            await asyncio.wait([self._early])
            if not self._early.cancelled():
                self._early.exception()


def time_left(seconds: float) -> float:
    """Return the seconds that the run away from the code gets once the one beside it took `seconds`."""
    return max(_SHORT - _LESS * seconds, _MORE * seconds)


def _one_of_each_file(ids: Iterable[str]) -> list[str]:
    return list({file_of(each): each for each in ids}.values())


def _quick(tests: Sequence[RanTest]) -> list[str]:
    return [each.id for each in tests if each.seconds < _QUICK]
