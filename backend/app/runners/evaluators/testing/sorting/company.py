"""Runs failing tests of changed files among all of the candidate's tests, as its authors run them."""

from dataclasses import replace

from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness


async def in_company(
    harness: Harness, tree: RunTree | None, own: RunReport | None, of_base: RunReport | None
) -> RunReport | None:
    """Return the run of the candidate's own tests, with failures that go away among all tests taken back.

    A test file may rely on what another one does when it is loaded, and a run of changed files alone does not
    load the other one. That may be the reason if the base's version of a failing test passes among others.

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
    among_all = await harness.run(replace(tree, only=None), ids=failing)
    if among_all.ending is not PytestEnding.COMPLETE or among_all.forged or not among_all.canaries_ran:
        return own
    return own.with_tests({name: each for name, each in among_all.tests.items() if each.ok})
