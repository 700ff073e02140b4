"""Runs tests that are skipped or expected to fail once more, without the others."""

from collections.abc import Sequence

from app.runners.evaluators.testing.layout.trees import Layout
from app.runners.evaluators.testing.running.run import Harness


async def idle_alone(harness: Harness, layout: Layout, tests: Sequence[str]) -> list[str]:
    """Return those of the base's tests that do not pass without the others, either.

    At the base they ran without them. A test that may fail (`xfail`) can depend on them.
    """
    if not tests or layout.base_run is None:
        return [*tests]
    alone = await harness.run(layout.base_run, ids=tests)
    passed = {each.id for each in alone.tests.values() if each.ok} if alone.is_sound else ()
    return [each for each in tests if each not in passed]
