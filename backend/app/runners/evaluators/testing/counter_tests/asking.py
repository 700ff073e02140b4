"""Runs counter-tests for the test gate, if they are wanted."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.errors import WorkspaceError
from app.runners.evaluators.testing.counter_tests.counter_report import CounterReport
from app.runners.evaluators.testing.counter_tests.counter_run import CounterTests
from app.runners.evaluators.testing.counter_tests.reading import TestFile
from app.runners.evaluators.testing.counter_tests.sampling import Nearness
from app.runners.evaluators.testing.counter_tests.versions import read_beside
from app.runners.evaluators.testing.layout.trees import Layout, RunTree, whole_tree
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.tooling import ToolTroubleError
from app.schemas.modes import CounterTestsMode
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.files.temporary import in_thread


@dataclass(frozen=True, slots=True)
class ReadTests:
    """What is read while the tests run.

    Attributes:
        files: the base's test files.
        distances: see `Nearness`.
    """

    files: Mapping[str, TestFile] = field(default_factory=dict[str, TestFile])
    distances: Mapping[str, int] = field(default_factory=dict[str, int])


async def read_tests(
    layout: Layout,
    mode: CounterTestsMode,
    started: asyncio.Event,
    distances: Callable[[], Mapping[str, int]],
) -> ReadTests:
    """Read the base's test files while they run, if the check is wanted. It takes a second in large projects.

    Args:
        layout: the runs.
        mode: whether to check.
        started: set once a run has started.
        distances: finds out how near names are to the change.
    """
    if mode is CounterTestsMode.OFF or layout.base_run is None:
        return ReadTests()
    await started.wait()
    files = await in_thread(read_beside, layout.base_run, layout.base_tests)
    return ReadTests(files, await in_thread(distances))


async def counter_report(
    harness: Harness,
    tree: RunTree | None,
    plain: RunReport,
    mode: CounterTestsMode,
    reading: Awaitable[ReadTests],
    is_wanted: Callable[[str], bool],
) -> CounterReport | None:
    """Return which of the base's tests would notice a wrong expectation, or None if that is not wanted.

    If the check fails, the existing evidence stays as it is.

    Args:
        harness: how the tests ran. The code of its base may show that a test never notices anything.
        tree: the tree that ran.
        plain: the report of that run.
        mode: whether to check, and whether the result decides.
        reading: gives what `read_tests` has read.
        is_wanted: whether the goal names a test.
    """
    if mode is CounterTestsMode.OFF or tree is None:
        return None
    try:
        base = await asyncio.to_thread(_base_tree, harness.base, harness.limits)
        read = await reading
        nearness = Nearness(is_wanted, read.distances)
        report = await CounterTests(harness=harness, base=base).check(tree, plain, read.files, nearness)
    except (OSError, ToolTroubleError, WorkspaceError) as error:
        return CounterReport(trouble=f"The tests could not be run with wrong expectations: {error}")
    return replace(report, decides=mode is CounterTestsMode.GATE)


def _base_tree(base: Path | None, limits: WorkspaceLimits) -> RunTree | None:
    if base is None:
        return None
    tree = whole_tree(base, limits)
    return replace(tree, trusted=frozenset(tree.files))
