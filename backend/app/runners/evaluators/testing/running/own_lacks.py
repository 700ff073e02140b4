"""Finds what the environment lacks for the tests that a candidate wrote.

That is enough only for a question.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from app.runners.evaluators.testing.running.dependencies import (
    is_foreign,
    is_test_library,
    lacking,
    missing_module,
)
from app.runners.evaluators.testing.running.installed import has_module
from app.runners.evaluators.testing.running.machine_words import NO_NETWORK
from app.runners.evaluators.testing.running.report import RanTest, RunReport
from app.runners.evaluators.testing.running.run import Harness


async def lacking_own(harness: Harness, trees: Sequence[Path], report: RunReport | None) -> dict[str, str]:
    """Return what tests lack according to their own messages, by the id of the test or file.

    A package counts if the base or the candidate declares it, or if it is a well-known library for tests. Any
    other module may be one that the agent had to write.

    Args:
        harness: how the tests ran.
        trees: the base's and the candidate's tree.
        report: of the candidate's own tests; None if it has none.
    """
    found: dict[str, str] = {}
    for each in (*report.failures, *report.errors) if report is not None else ():
        module = missing_module(each.message)
        if module is None:
            what = await asyncio.to_thread(lacking, each.message, trees[0])
        elif any([await asyncio.to_thread(_is_package, module, tree) for tree in trees]):
            what = None if await has_module(harness, module) else f"{module} is not installed"
        else:
            what = None
        if what is None and isinstance(each, RanTest) and each.sought_network:
            what = NO_NETWORK
        if what is not None:
            found[each.id] = what
    return found


def _is_package(module: str, tree: Path) -> bool:
    return is_foreign(module, tree, ()) or is_test_library(module, tree)
