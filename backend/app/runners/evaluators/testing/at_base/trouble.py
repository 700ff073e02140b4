"""Finds why a failed run is not the candidate's fault."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.at_base.remembered import ran_endless
from app.runners.evaluators.testing.running.dependencies import (
    is_in_tree,
    is_lacked_by_installed,
    is_test_library,
    missing_module,
    missing_submodule,
    own_hook_broke,
)
from app.runners.evaluators.testing.running.lacks import LACKS
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import RAISE_LIMIT
from app.runners.evaluators.tooling import excerpt

_FILE = re.compile(r"\.py\b")
"""A place in a source. A plug-in that lacks a module may say so in plain words."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a failed run is not the candidate's fault.

    Attributes:
        text: for people and agents; `""` if it is the candidate's fault, or if the run did not fail.
        at_base: the base's own run, if pytest does not get to its tests there either.
    """

    text: str = ""
    at_base: RunReport | None = None

    def __bool__(self) -> bool:
        return bool(self.text)


async def trouble_of(base: BaseTests, report: RunReport, *, of_base: bool) -> Trouble:
    """Return why a failed run is not the candidate's fault.

    Args:
        base: the base.
        report: the run.
        of_base: whether the tests that ran are the base's.
    """
    if report.ending is PytestEnding.BROKEN:
        return await _broken_too(base, report, of_base=of_base)
    return Trouble(await _trouble_while_running(base, report, of_base=of_base))


async def _trouble_while_running(base: BaseTests, report: RunReport, *, of_base: bool) -> str:
    if report.ending in (PytestEnding.TIMED_OUT, PytestEnding.TORN):
        return await _endless_too(base, report) if of_base else ""
    if report.unfinished and of_base:
        return await _stopped_too(base, report)
    if report.errors and not report.failures:
        return await base.lacks.explain(report.errors, of_base=of_base)
    return ""


async def _stopped_too(base: BaseTests, report: RunReport) -> str:
    """Return a message if something stops the base's own run, too, before the same tests."""
    there = await base.whole()
    is_same = there.unfinished and set(report.unfinished) <= set(there.unfinished)
    return f"The base's tests also stop early: {excerpt(there.text, 300)}" if is_same else ""


async def _endless_too(base: BaseTests, report: RunReport) -> str:
    """Return a message if the base's own run does not end either, with the test for which it waits."""
    if base.baseline and ran_endless(base.baseline, report, base.harness.limit_of_test):
        return f"In the base, {base.baseline.trouble}"
    waits_for = report.unfinished[0] if report.unfinished else ""
    if report.ending is PytestEnding.TIMED_OUT and waits_for and (why := await base.endless.why(waits_for)):
        return f"{waits_for} {why}"
    there = await base.run()
    if there.ending is not report.ending:
        return ""
    waited = f", and wait for {there.unfinished[0]}" if there.unfinished else ""
    if there.ending is PytestEnding.TIMED_OUT:
        limit = f" within {there.seconds:.0f} seconds"
        return f"The tests of the base do not end{limit} either{waited}. {RAISE_LIMIT}"
    return f"The base's tests also stop early{waited}: {excerpt(there.text, 300)}"


async def _broken_too(base: BaseTests, report: RunReport, *, of_base: bool) -> Trouble:
    module = missing_module(report.text)
    if module is not None and await base.lacks.needs_installed(module):
        return Trouble(f"{LACKS}: {module}")
    listing = await base.listed() if of_base else None
    if listing and listing.ending is PytestEnding.BROKEN and _is_lacked(listing.text, base.place):
        return Trouble(f"{LACKS}: {missing_module(listing.text)}")
    # The agent's task may be to write a module that the base does not have. Then a file there imports it.
    if module is not None and not await asyncio.to_thread(is_in_tree, module, base.place):
        is_broken = listing is not None and listing.ending is PytestEnding.BROKEN
        if not is_broken or _FILE.search(report.text):
            return Trouble()
    by_own_hook = own_hook_broke(report.text)
    if listing and listing.ending is not PytestEnding.BROKEN and not (by_own_hook and report.ids):
        # Some plug-ins, fixtures and hooks of a configuration break only when tests are to run.
        listing = await base.run()
    if listing is None or listing.ending is not PytestEnding.BROKEN or (by_own_hook and listing.ids):
        return Trouble()
    if (part := missing_submodule(report.text)) and not await base.lacks.is_made_by_build(part):
        return Trouble()
    return Trouble(f"pytest cannot run in the base either: {excerpt(listing.text, 300)}", listing)


def _is_lacked(message: str, place: Path) -> bool:
    module = missing_module(message)
    is_for_tests = module is not None and is_test_library(module, place)
    return is_for_tests or is_lacked_by_installed(message)
