"""Looks at tests of files that the base cannot load and the candidate made loadable.

Their results at the base are unknown, although they may have been there for years. What fails in such a test
proves something only if the base's code passes it.
"""

import ast
import asyncio
from collections.abc import Collection, Iterator
from pathlib import Path

from app.runners.evaluators.protection.normal_form import normal_form
from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.layout.trees import RunTree, whole_tree
from app.runners.evaluators.testing.running.report import PytestEnding, RunReport
from app.runners.evaluators.testing.running.run import Harness
from app.runners.evaluators.testing.sorting.again import SecondLook
from app.runners.evaluators.tree_files import small_file


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
    same = await asyncio.to_thread(_unchanged, {file_of(each.id) for each in own.failures}, root, tree)
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


def _unchanged(files: Collection[str], base: Path, tree: RunTree) -> set[str]:
    """Return the ids of the test functions that mean the same at the base and in the candidate."""
    found: set[str] = set()
    for name in files:
        before, after = (dict(_functions(root / name, name)) for root in (base, tree.files[name]))
        found |= {each for each, meaning in before.items() if after.get(each) == meaning}
    return found


def _functions(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the meaning of each function in a file and its classes."""
    try:
        module = ast.parse(small_file(path))
    except (SyntaxError, ValueError, RecursionError):
        return
    scopes: list[tuple[str, list[ast.stmt]]] = [(name, module.body)]
    while scopes:
        above, body = scopes.pop()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{above}::{node.name}", normal_form(node)
            elif isinstance(node, ast.ClassDef):
                scopes.append((f"{above}::{node.name}", node.body))
