"""Runs failing tests of changed files among all of the candidate's tests, as its authors run them."""

import asyncio
from dataclasses import replace

from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.same_tests import unchanged_tests
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness


async def in_company(
    harness: Harness, tree: RunTree | None, own: RunReport | None, of_base: RunReport | None
) -> RunReport | None:
    """Return the run of the candidate's own tests, with failures that go away among all tests taken back.

    A test file may rely on what another one does when it is loaded, and a run of changed files alone does not
    load the other one. That may be the reason if the base's version of a failing test passes among others. If
    the test itself did not change, it may also rely on tests that ran before it, so all of them run.

    Args:
        harness: runs them.
        tree: the candidate's tree with these tests.
        own: the run of the tests that it added or changed.
        of_base: the run of all tests of the base on the candidate's code.
    """
    if tree is None or tree.only is None or own is None or of_base is None:
        return own
    failing = [each.id for each in own.failures]
    passes_there = {each.id for each in of_base.tests.values() if each.ok}
    if own.ending is not PytestEnding.COMPLETE or passes_there.isdisjoint(failing):
        return own
    everything = replace(tree, only=None)
    good = _good(await harness.run(everything, ids=failing))
    left = [each for each in failing if each in passes_there and each not in good]
    if left and harness.base is not None:
        same = await asyncio.to_thread(unchanged_tests, set(map(file_of, left)), harness.base, tree)
        wanted = {each for each in left if function_of(each) in same}
        among_all = _good(await harness.run(everything)) if wanted else {}
        good |= {name: each for name, each in among_all.items() if name in wanted}
    return own.with_tests(good)


def _good(report: RunReport) -> dict[str, RanTest]:
    """Return the tests that passed in a run that can be trusted."""
    return {name: each for name, each in report.tests.items() if each.ok} if report.is_sound else {}
