"""Finds functions that lost their annotations, and tells when that is no proof."""

import asyncio
from collections.abc import Sequence

from app.runners.evaluators.annotations import RULE, lost_annotations
from app.runners.evaluators.static.analysed_copy import base_annotates_all
from app.runners.evaluators.static.baseline import Comparison, Finding
from app.runners.evaluators.static.doubt import Why
from app.runners.evaluators.static.trees import StaticTrees


def lost_in(trees: StaticTrees, files: Sequence[str]) -> list[Finding]:
    """Return a finding for each function in changed files that lost annotations; none without a base."""
    if trees.base is None:
        return []
    changed = [name for name in files if name in trees.changed]
    return lost_annotations(trees.base.path, trees.copy.path, changed)


async def base_has_bare_ones(trees: StaticTrees, comparison: Comparison) -> Why:
    """Return why lost annotations are no proof: the base, too, has functions without any."""
    if trees.base is None or not any(each.rule == RULE for each in comparison.new):
        return lambda _: ""
    if await asyncio.to_thread(base_annotates_all, trees.base):
        return lambda _: ""
    return lambda each: "the base has functions without annotations, too" if each.rule == RULE else ""
