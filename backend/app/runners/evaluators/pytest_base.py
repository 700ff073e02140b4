"""What the base tree says about a run: which tests are lost or newly skipped, and whose fault trouble is."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.dependencies import is_foreign, missing_module
from app.runners.evaluators.inventory import differing, file_of, function_of, lost_tests, written_tests
from app.runners.evaluators.pytest_config import PytestSettings, settings_for
from app.runners.evaluators.pytest_report import Ending, RunReport
from app.runners.evaluators.pytest_run import Harness, is_test_support
from app.runners.evaluators.source_tree import python_files
from app.runners.evaluators.tooling import ToolTroubleError, excerpt


@dataclass(frozen=True, slots=True)
class _Layout:
    """The Python files of the two trees, sorted into test files and others."""

    settings: PytestSettings
    base_tests: tuple[str, ...]
    base_sources: tuple[str, ...]
    altered: bool


class BaseTests:
    """The tests of the base tree. Runs them only when a question needs it, and each run at most once."""

    def __init__(self, harness: Harness, base: Path, workspace: Path) -> None:
        self._harness = harness
        self._base = base
        self._workspace = workspace
        self._listing: asyncio.Task[RunReport] | None = None
        self._layout: _Layout | None = None

    async def prepare(self) -> None:
        """Begin to list the base's tests if the candidate has other test files than the base.

        With the same files it has the same tests, and no process need be started to know that.
        """
        self._layout = await asyncio.to_thread(_layout, self._base, self._workspace)
        if self._layout.altered:
            self._start_listing()

    async def close(self) -> None:
        """End what is still running."""
        if self._listing is not None:
            self._listing.cancel()
            with suppress(asyncio.CancelledError, ToolTroubleError):
                await self._listing

    async def lost(self, report: RunReport) -> list[str]:
        """Give the base's tests that the candidate no longer runs."""
        layout = await self._known_layout()
        if not layout.altered and not report.deselected and not any(each.skipped for each in report.problems):
            return []
        listing = await self._list()
        uncollected = [each.id for each in listing.errors]
        at_base = [*listing.ids, *written_tests(self._base, uncollected)]
        if listing.ending is not Ending.COMPLETE:
            at_base = written_tests(self._base, layout.base_tests)
        broken = {each.id for each in report.errors}
        return lost_tests((each for each in at_base if file_of(each) not in broken), report.ids)

    async def newly_idle(self, report: RunReport) -> list[str]:
        """Give the tests of the base that ran there, and are skipped or expected to fail here."""
        layout = await self._known_layout()
        idle = [each.id for each in report.tests.values() if each.idle]
        files = sorted({file_of(each) for each in idle} & set(layout.base_tests))
        if not files:
            return []
        there = await self._harness.run(self._base, only=files)
        written = set(written_tests(self._base, [each.id for each in there.errors]))
        return [
            each
            for each in idle
            if (each in there.tests and not there.tests[each].idle) or function_of(each) in written
        ]

    async def environment_trouble(self, report: RunReport) -> str:
        """Say why a run that did not work is not the candidate's fault; `""` when it is, or it worked."""
        if report.ending in (Ending.TIMED_OUT, Ending.TORN):
            there = await self._harness.run(self._base)
            if there.ending is report.ending:
                return f"The tests of the base do not run to their end either: {excerpt(there.text, 300)}"
            return ""
        if report.ending is Ending.BROKEN:
            return await self._broken_too(report)
        if report.errors and not report.failures:
            return await self._lacking(report)
        return ""

    async def _broken_too(self, report: RunReport) -> str:
        listing = await self._list()
        if listing.ending is not Ending.BROKEN:
            return ""
        module = missing_module(report.text)
        if module is not None and not await self._is_foreign(module):
            return ""
        return f"pytest cannot work in the base either: {excerpt(listing.text, 300)}"

    async def _lacking(self, report: RunReport) -> str:
        """Name the modules that the environment lacks, if each problem of the run comes from one."""
        modules = {missing_module(each.message) for each in report.errors}
        there = {missing_module(each.message) for each in (await self._list()).errors}
        names = sorted(each for each in modules & there if each is not None)
        if len(names) < len(modules) or not all([await self._is_foreign(each) for each in names]):
            return ""
        return f"The interpreter that runs the tests lacks what the project needs: {', '.join(names)}"

    async def _is_foreign(self, module: str) -> bool:
        layout = await self._known_layout()
        return await asyncio.to_thread(is_foreign, module, self._base, layout.base_sources)

    async def _list(self) -> RunReport:
        return await self._start_listing()

    def _start_listing(self) -> asyncio.Task[RunReport]:
        if self._listing is None:
            self._listing = asyncio.create_task(self._harness.run(self._base, collect_only=True))
        return self._listing

    async def _known_layout(self) -> _Layout:
        if self._layout is None:
            await self.prepare()
        assert self._layout is not None  # noqa: S101 - prepare() has set it
        return self._layout


def _layout(base: Path, workspace: Path) -> _Layout:
    settings = settings_for(base, base)
    base_files, files = python_files(base), python_files(workspace)
    base_tests = [name for name in base_files if is_test_support(name, settings)]
    new_conftests = [name for name in files if name.endswith("conftest.py") and name not in base_tests]
    return _Layout(
        settings=settings,
        base_tests=tuple(base_tests),
        base_sources=tuple(name for name in base_files if name not in set(base_tests)),
        altered=bool(new_conftests or differing(base, workspace, base_tests)),
    )
