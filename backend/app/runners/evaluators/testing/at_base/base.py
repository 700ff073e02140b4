"""Compares a run with the base: tests lost or newly skipped, and who is at fault if it fails."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.runners.evaluators.testing.at_base.base_away import BaseAway
from app.runners.evaluators.testing.at_base.endless import Endless
from app.runners.evaluators.testing.at_base.idle_alone import idle_alone
from app.runners.evaluators.testing.at_base.remembered import Remembered, ran_endless
from app.runners.evaluators.testing.at_base.slow import SlowTests, joined, part_of
from app.runners.evaluators.testing.layout.config import PytestSettings
from app.runners.evaluators.testing.layout.inventory import file_of, function_of, lost_tests
from app.runners.evaluators.testing.layout.setting import is_test_file
from app.runners.evaluators.testing.layout.trees import Layout, RunTree, whole_tree
from app.runners.evaluators.testing.layout.written import WrittenTests, read_tests, written_tests
from app.runners.evaluators.testing.running.dependencies import (
    is_in_tree,
    is_lacked_by_installed,
    is_test_library,
    missing_module,
    missing_submodule,
    own_hook_broke,
)
from app.runners.evaluators.testing.running.lacks import LACKS, Lacks
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import RAISE_LIMIT, Harness
from app.runners.evaluators.tooling import ToolTroubleError, excerpt
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
        self._harness = harness
        self._base = base
        self._layout = layout
        self._settings = settings
        self._listing: asyncio.Task[RunReport] | None = None
        self._written: WrittenTests | None = None
        self._baseline = baseline
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
            self._listed()

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
        harness = self._harness
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
        return await (self._listed() if self.remembered is None else self._load())

    async def _load(self) -> RunReport:
        return await self._harness.run(await self._tree(), collect_only=True)

    async def _run_short(self) -> RunReport:
        return await replace(self._harness, leaves_out=True).run(await self._tree())

    async def lost(self, report: RunReport) -> list[str]:
        """Return the base's tests that are missing in a run."""
        if self._known.are_all_in(report.ids):
            return []
        listing = await self._listed()
        uncollected = [each.id for each in listing.errors]
        at_base = [*listing.ids, *written_tests(self._base, uncollected)]
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
        awake_functions.update(written_tests(self._base, unread))
        found = [
            each
            for each in in_question
            if each in awake or (each not in known and function_of(each) in awake_functions)
        ]
        return await idle_alone(self._harness, self._layout, found)

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

    async def environment_trouble(self, report: RunReport, *, of_base: bool) -> str:
        """Return why a failed run is not the candidate's fault; `""` if it is, or if the run did not fail.

        Args:
            report: the run.
            of_base: whether the tests that ran are the base's.
        """
        if report.ending in (PytestEnding.TIMED_OUT, PytestEnding.TORN):
            return await self._endless_too(report) if of_base else ""
        if report.ending is PytestEnding.BROKEN:
            return await self._broken_too(report, of_base=of_base)
        if report.unfinished and of_base:
            return await self._stopped_too(report)
        if report.errors and not report.failures:
            return await self.lacks.explain(report.errors, of_base=of_base)
        return ""

    async def _stopped_too(self, report: RunReport) -> str:
        """Return a message if something stops the base's own run, too, before the same tests."""
        there = await self.whole()
        is_same = there.unfinished and set(report.unfinished) <= set(there.unfinished)
        return f"The base's tests also stop early: {excerpt(there.text, 300)}" if is_same else ""

    async def forged_too(self, report: RunReport) -> bool:
        """Return True if the base's own reports have the same faults, as a project may patch pytest."""
        return set(report.forged) <= set((await self.run()).forged)

    async def _endless_too(self, report: RunReport) -> str:
        """Return a message if the base's own run does not end either, with the test for which it waits."""
        if self._baseline and ran_endless(self._baseline, report, self._harness.limit_of_test):
            return f"In the base, {self._baseline.trouble}"
        waits_for = report.unfinished[0] if report.unfinished else ""
        if (
            report.ending is PytestEnding.TIMED_OUT
            and waits_for
            and (why := await self.endless.why(waits_for))
        ):
            return f"{waits_for} {why}"
        there = await self.run()
        if there.ending is not report.ending:
            return ""
        waited = f", and wait for {there.unfinished[0]}" if there.unfinished else ""
        if there.ending is PytestEnding.TIMED_OUT:
            limit = f" within {there.seconds:.0f} seconds"
            return f"The tests of the base do not end{limit} either{waited}. {RAISE_LIMIT}"
        return f"The base's tests also stop early{waited}: {excerpt(there.text, 300)}"

    async def _broken_too(self, report: RunReport, *, of_base: bool) -> str:
        module = missing_module(report.text)
        if module is not None and await self.lacks.needs_installed(module):
            return f"{LACKS}: {module}"
        listing = await self._listed() if of_base else None
        if listing and listing.ending is PytestEnding.BROKEN and self._is_lacked(listing.text):
            return f"{LACKS}: {missing_module(listing.text)}"
        # The agent's task may be to write a module that the base does not have.
        if module is not None and not await asyncio.to_thread(is_in_tree, module, self._base):
            return ""
        by_own_hook = own_hook_broke(report.text)
        if (
            listing is not None
            and listing.ending is not PytestEnding.BROKEN
            and not (by_own_hook and report.ids)
        ):
            # Some plug-ins, fixtures and hooks of a configuration break only when tests are to run.
            listing = await self.run()
        if listing is None or listing.ending is not PytestEnding.BROKEN or (by_own_hook and listing.ids):
            return ""
        if (part := missing_submodule(report.text)) and not await self.lacks.is_made_by_build(part):
            return ""
        return f"pytest cannot run in the base either: {excerpt(listing.text, 300)}"

    def _is_lacked(self, message: str) -> bool:
        module = missing_module(message)
        is_for_tests = module is not None and is_test_library(module, self._base)
        return is_for_tests or is_lacked_by_installed(message)

    async def unreadable(self) -> dict[str, str]:
        """Return the files and classes that cannot be loaded at the base, with the message of each."""
        return {each.id: each.message for each in (await self._listed()).errors}

    async def _tree(self, files: Collection[str] | None = None) -> RunTree:
        whole = await asyncio.to_thread(whole_tree, self._base, self._harness.limits)
        return RunTree(whole.files, frozenset(whole.files), None if files is None else frozenset(files))

    def _listed(self) -> asyncio.Task[RunReport]:
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
        written = read_tests(self._base, self._layout.base_tests, others)
        plain = not (self._settings.selects or self._settings.names_tests or self._settings.has_doctests)
        return WrittenTests(written.tests, certain=written.certain and plain)

    @property
    def _known(self) -> WrittenTests:
        assert self._written is not None  # noqa: S101 - prepare() comes first
        return self._written


def _all_idle(tests: Collection[str], report: RunReport) -> bool:
    return all(each in report.tests and report.tests[each].idle for each in tests)
