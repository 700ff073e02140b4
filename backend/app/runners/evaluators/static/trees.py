"""The copies that a static tool reads in one evaluation, and which of its findings are new against base."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.runners.evaluators.source_tree import base_files, judged_files, same_file
from app.runners.evaluators.static.analysed_copy import AnalysedBase, AnalysedCopy, copy_base, copy_candidate
from app.runners.evaluators.static.baseline import Comparison, Finding, compare
from app.runners.evaluators.static.silencing_comments import Tool

CheckBase = Callable[[AnalysedCopy, list[str]], Awaitable[Sequence[Finding]]]
"""Gives the findings of a tool in some files of the base's copy."""


@dataclass(frozen=True, slots=True)
class StaticTrees:
    """A candidate's copy, and what it is held against.

    Attributes:
        copy: of the candidate.
        files: all Python files of the candidate that must be judged.
        base: the tree with the base commit.
        changed: files that the base does not have as they are; all of them without a base.
        place: where the base's copy goes.
    """

    copy: AnalysedCopy
    files: tuple[str, ...]
    base: AnalysedBase | None
    changed: frozenset[str]
    place: Path
    _copies: list[AnalysedCopy] = field(default_factory=list[AnalysedCopy], init=False, repr=False)

    async def compare(self, found: Sequence[Finding], check_base: CheckBase) -> Comparison:
        """Tell which findings are new; the base is looked at only where that can matter.

        Args:
            found: the tool's, to which those of the copy are added.
            check_base: looks at the base.
        """
        found = [*self.copy.faults, *found]
        if self.base is None or not found:
            return Comparison(self.copy.with_reasons(sorted(found)), ())
        gone = set(self.base.files) - set(self.files)
        concerned = ({each.file for each in found} & set(self.base.files)) | gone
        copy = await asyncio.to_thread(self.copy_of_base)
        files = [name for name in copy.files if name in concerned]
        at_base: Sequence[Finding] = await check_base(copy, files) if files else ()
        comparison = compare(found, [*copy.faults, *at_base], gone=gone)
        return Comparison(self.copy.with_reasons(comparison.new), comparison.known)

    def copy_of_base(self) -> AnalysedCopy:
        """Copy the base for tools to read; the same copy again when there is one.

        Raises:
            ToolTroubleError: a file cannot be read, or they are too large.
            ValueError: there is no base.
        """
        if self.base is None:
            raise ValueError("there is no base to copy")
        if not self._copies:
            self._copies.append(copy_base(self.base, self.place / "base"))
        return self._copies[0]


async def open_trees(
    workspace: Path, base: Path | None, tool: Tool, place: Path, *, allow: bool
) -> StaticTrees | None:
    """Copy what a tool shall read to a new directory below `place`; None when there is nothing.

    Args:
        workspace: the candidate.
        base: the tree with the base commit.
        tool: which tool.
        place: a directory.
        allow: whether the candidate may silence the tool.

    Raises:
        ToolTroubleError: a tree is too large, or cannot be read.
    """
    return await asyncio.to_thread(_open, workspace, base, tool, place, allow)


def _open(workspace: Path, base: Path | None, tool: Tool, place: Path, allow: bool) -> StaticTrees | None:
    files = tuple(judged_files(workspace, base))
    if not files:
        return None
    own = Path(tempfile.mkdtemp(dir=place, prefix="trees-"))
    old = AnalysedBase(base, base_files(base, files)) if base else None
    copy = copy_candidate(workspace, files, old, tool, own / "candidate", allow=allow)
    changed = frozenset(name for name in files if not base or not same_file(workspace / name, base / name))
    return StaticTrees(copy, files, old, changed, own)
