"""Runs tests that are skipped or expected to fail once more, without the others."""

from collections.abc import Mapping, Sequence

from app.runners.evaluators.testing.layout.trees import Layout
from app.runners.evaluators.testing.running.report import RanTest
from app.runners.evaluators.testing.running.run import Harness


async def idle_alone(harness: Harness, layout: Layout, tests: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return those of the base's tests that are idle without the others, too, and those that fail then.

    At the base they ran without them. A test that may fail (`xfail`) can depend on them.
    """
    if not tests or layout.base_run is None:
        return [*tests], []
    alone = await harness.run(layout.base_run, ids=tests)
    found: Mapping[str, RanTest] = alone.tests if alone.is_sound else {}
    failing = [each for each in tests if each in found and found[each].bad]
    return [each for each in tests if each not in failing and not (each in found and found[each].ok)], failing
