"""Two complementary versions of the test files, and the results of the tests in both."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from app.runners.evaluators.testing.counter_tests.comparing import (
    CounterTestResult,
    Half,
    answers_by_test,
    compare,
)
from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.counter_tests.stuck import run_past_stuck
from app.runners.evaluators.testing.counter_tests.versions import Version, write_trees
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.running.run import Harness, run_directory
from app.workspaces.files.temporary import in_thread
from app.workspaces.together import together


@dataclass(frozen=True, slots=True)
class Pair:
    """Two complementary versions of the test files, and their results."""

    versions: tuple[Version, Version]
    answers: Mapping[str, CounterTestResult]


Versions = Callable[
    [Sequence[Unit], Collection[str], Mapping[str, CounterTestResult]], tuple[Version, Version] | None
]
"""Makes two complementary versions for some tests, from earlier unnoticed changes; None if it cannot."""

NO_PAIR = Pair((Version((), {}), Version((), {})), {})


def answers_of(
    versions: tuple[Version, Version], reports: tuple[RunReport, RunReport]
) -> dict[str, CounterTestResult]:
    """Return the result of each test in two runs."""
    one, other = (Half(each.changes, said) for each, said in zip(versions, reports, strict=True))
    return answers_by_test(compare((one, other)))


async def run_both(
    harness: Harness,
    tree: RunTree,
    versions: tuple[Version, Version],
    functions: Collection[str] | None = None,
) -> tuple[RunReport, RunReport]:
    """Run a tree with both versions at once.

    Args:
        harness: how the tests run.
        tree: the tree.
        versions: the test files.
        functions: ids of the functions to run; None means those of each version.
    """
    async with run_directory() as place:
        trees = await in_thread(write_trees, tree, versions, place)
        one, other = (
            run_past_stuck(harness, tree, version.functions if functions is None else functions)
            for tree, version in zip(trees, versions, strict=True)
        )
        return await together(one, other)
