"""Compares a run with the base: tests lost or newly skipped, and who is at fault if it fails."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.runners.evaluators.testing.at_base.base_away import BaseAway
from app.runners.evaluators.testing.at_base.endless import Endless
from app.runners.evaluators.testing.at_base.idle_alone import idle_alone
from app.runners.evaluators.testing.at_base.remembered import Remembered
from app.runners.evaluators.testing.at_base.slow import SlowTests, joined, part_of
from app.runners.evaluators.testing.layout.config import PytestSettings
from app.runners.evaluators.testing.layout.inventory import file_of, function_of, lost_tests
from app.runners.evaluators.testing.layout.setting import is_test_file
from app.runners.evaluators.testing.layout.trees import Layout, RunTree, whole_tree
from app.runners.evaluators.testing.layout.written import WrittenTests, read_tests, written_tests
from app.runners.evaluators.testing.running.lacks import Lacks
from app.runners.evaluators.testing.running.report import PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.tooling import ToolTroubleError
from app.schemas.baseline import Baseline
from app.workspaces.confine.sandbox import SandboxUnavailableError


class BaseTests:
    """The tests of the base tree. They run only for a question that no baseline answers."""

    def __init__(
        self,
        harness: Harness,
        base: Path,
        layout: Layout,
        settings: PytestSettings,
        baseline: Baseline | None = None,
    ) -> None:
        self.harness = harness
        self.place = base
        self._layout = layout
        self._settings = settings
        self._listing: asyncio.Task[RunReport] | None = None
        self._written: WrittenTests | None = None
        self.baseline = baseline
        self.lacks = Lacks(
            harness=harness, base=base, sources=layout.base_sources, unreadable=self.unreadable
        )
        self.endless = Endless(harness, self.run_now, self.whole, baseline)
        self.away = BaseAway(harness, self._tree, self.run)
        self.slow = SlowTests(harness, self._run_short)
        self.remembered = Remembered(baseline) if baseline and baseline.whole else None
        self._whole: RunReport | None = None

    async def prepare(self) -> None:
        """Read the base's tests. Start listing them if their text does not show all of them."""
        self._written = await asyncio.to_thread(self._read)
        if not self._written.tells_all and self._layout.base_tests and self.remembered is None:
            self.listed()

    async def close(self) -> None:
        """End what is still running."""
        await self.slow.close()
        if self._listing is not None:
            self._listing.cancel()
            with suppress(asyncio.CancelledError, ToolTroubleError, SandboxUnavailableError):
                await self._listing

    async def run(
        self, files: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> RunReport:
        """Return the results at the base: of all tests, of those in some files, or of some of these."""
        if self.remembered is not None and self.remembered.knows(ids or ()):
            return self.remembered.report(files, ids)
        seen = self.slow.seen_of(files, ids)
        if seen is None and self._whole is not None:
            seen = part_of(self._whole, files, ids)
        if seen is None:
            return await self.run_now(files, ids)
        unseen = [each for each in ids or () if each not in seen.tests]
        return joined(seen, await self.run_now(files, unseen)) if unseen else seen

    async def whole(self) -> RunReport:
        """Return the results of all tests at the base. They run at most once for this."""
        if self._whole is None:
            self._whole = await self.run()
        return self._whole

    async def run_now(
        self,
        files: Collection[str] | None = None,
        ids: Collection[str] | None = None,
        *,
        seconds: float | None = None,
    ) -> RunReport:
        """Run tests of the base in the base, even those with known results."""
        harness = self.harness
        if seconds is not None:
            harness = replace(harness, seconds=seconds)
        if ids is None:
            harness = replace(harness, without=(*self.slow.known, *self.endless.known))
        return await harness.run(await self._tree(files), ids=ids)

    async def loaded(self) -> RunReport:
        """Load the files of the base's tests in the base, and run none.

        That is also how its tests are listed, so it is done once for both. A baseline has the list, but does
        not tell what loading changes.
        """
        return await (self.listed() if self.remembered is None else self._load())

    async def _load(self) -> RunReport:
        return await self.harness.run(await self._tree(), collect_only=True)

    async def _run_short(self) -> RunReport:
        return await replace(self.harness, leaves_out=True).run(await self._tree())

    async def lost(self, report: RunReport) -> list[str]:
        """Return the base's tests that are missing in a run."""
        if self._known.are_all_in(report.ids):
            return []
        listing = await self.listed()
        uncollected = [each.id for each in listing.errors]
        at_base = [*listing.ids, *written_tests(self.place, uncollected)]
        if listing.ending is not PytestEnding.COMPLETE:
            at_base = [each.id for each in self._known.tests]
        broken = {each.id for each in report.errors}
        wanted = set(self._layout.base_tests) - broken
        return lost_tests((each for each in at_base if file_of(each) in wanted), report.ids)

    async def newly_idle(self, report: RunReport) -> list[str]:
        """Return the tests of the base that ran there, and are skipped or expected to fail in a run."""
        always = {each.id for each in self._known.tests if each.skipped}
        idle = [each.id for each in report.tests.values() if each.idle and function_of(each.id) not in always]
        files = {file_of(each) for each in idle}.intersection(self._layout.base_tests)
        if not files:
            return []
        in_question = [each for each in idle if file_of(each) in files]
        # Most tests are skipped at the base, too. Only if neither the list of its tests nor a run of these
        # alone shows it, their files run.
        marked = await self._skipped_by_marks()
        left = [each for each in in_question if each not in marked]
        if not left or _all_idle(left, await self.run(set(map(file_of, left)), left)):
            return []
        there = await self.run(files)
        known, awake = set(there.tests), {each.id for each in there.tests.values() if not each.idle}
        # If each test of a function still runs, a further one is new, as for a new data file. For a file that
        # cannot be imported at the base, the tests are those in its text.
        awake_functions = {function_of(each) for each in awake.difference(report.tests)}
        broken = {each.id for each in there.errors}
        unread = [name for name in files if there.ending is not PytestEnding.COMPLETE or name in broken]
        awake_functions.update(written_tests(self.place, unread))
        found = [
            each
            for each in in_question
            if each in awake or (each not in known and function_of(each) in awake_functions)
        ]
        idle, failing = await idle_alone(self.harness, self._layout, found)
        # A test that fails alone may be skipped among all others, at the base, too.
        among_all: Mapping[str, RanTest] = (await self.whole()).tests if failing else {}
        return [*idle, *(each for each in failing if each not in among_all or not among_all[each].idle)]

    async def _skipped_by_marks(self) -> frozenset[str]:
        """Return the tests that marks skip at the base; none if its tests were not listed."""
        return frozenset() if self._listing is None else frozenset((await self._listing).skipped)

    async def red_among(self, tests: Collection[str]) -> dict[str, str]:
        """Return those of some tests that fail at the base, each with its message there."""
        if not tests:
            return {}
        there = (await self.run({file_of(each) for each in tests}, list(tests))).tests
        return {each: there[each].message for each in tests if each in there and there[each].bad}

    def replaced(self, report: RunReport) -> list[str]:
        """Return the tests of the base that ran with other code than that in the base's file."""
        plain = {each.id for each in self._known.tests if each.plain}
        return [
            f"{name} (its code comes from {place})"
            for name, place in report.foreign.items()
            if function_of(name) in plain
        ]

    async def forged_too(self, report: RunReport) -> bool:
        """Return True if the base's own reports have the same faults, as a project may patch pytest."""
        return set(report.forged) <= set((await self.run()).forged)

    async def unreadable(self) -> dict[str, str]:
        """Return the files and classes that cannot be loaded at the base, with the message of each."""
        return {each.id: each.message for each in (await self.listed()).errors}

    async def _tree(self, files: Collection[str] | None = None) -> RunTree:
        whole = await asyncio.to_thread(whole_tree, self.place, self.harness.limits)
        return RunTree(whole.files, frozenset(whole.files), None if files is None else frozenset(files))

    def listed(self) -> asyncio.Task[RunReport]:
        """Return the list of the base's tests as soon as there is one. They are listed once."""
        if self._listing is None:
            self._listing = asyncio.create_task(self._collect())
        return self._listing

    async def _collect(self) -> RunReport:
        if self.remembered is not None:
            return self.remembered.report()
        return await self._load()

    def _read(self) -> WrittenTests:
        run = self._layout.base_run
        support = [name for name in run.trusted if name.endswith(".py")] if run else []
        others = [name for name in support if not is_test_file(name, self._settings.test_files)]
        written = read_tests(self.place, self._layout.base_tests, others)
        plain = not (self._settings.selects or self._settings.names_tests or self._settings.has_doctests)
        return WrittenTests(written.tests, certain=written.certain and plain)

    @property
    def _known(self) -> WrittenTests:
        assert self._written is not None  # noqa: S101 - prepare() comes first
        return self._written


def _all_idle(tests: Collection[str], report: RunReport) -> bool:
    return all(each in report.tests and report.tests[each].idle for each in tests)
