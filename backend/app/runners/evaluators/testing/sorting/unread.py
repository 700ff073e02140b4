"""Looks at tests of files that the base cannot load and the candidate made loadable.

Their results at the base are unknown, although they may have been there for years. What fails in such a test
proves something only if the base's code passes it.
"""

import asyncio

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.same_tests import unchanged_tests
from app.runners.evaluators.testing.layout.trees import RunTree, whole_tree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.second_look import SecondLook


async def red_where_loaded(harness: Harness, tree: RunTree, own: RunReport, base: BaseTests) -> SecondLook:
    """Run failing tests that the candidate did not change, from its version of the file, on the base's code.

    Args:
        harness: runs them.
        tree: the tree in which the candidate's tests ran.
        own: the run of the candidate's tests.
        base: the base.
    """
    if harness.base is None or own.ending is not PytestEnding.COMPLETE or not own.failures:
        return SecondLook()
    root = harness.base
    changed_files = {file_of(each.id) for each in own.failures}
    same = await asyncio.to_thread(unchanged_tests, changed_files, root, tree)
    failing = [each.id for each in own.failures if function_of(each.id) in same]
    unread = await base.unreadable() if failing else {}
    ids = [each for each in failing if file_of(each) in unread]
    if not ids:
        return SecondLook()
    whole = await asyncio.to_thread(whole_tree, root, harness.limits)
    files = frozenset(map(file_of, ids))
    mixed = {**whole.files, **{name: tree.files[name] for name in files}}
    there = await harness.run(RunTree(mixed, only=files), ids=ids)
    return SecondLook(red={each.id: each.message for each in there.failures if each.id in ids})
