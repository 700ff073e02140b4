"""The copies for a static tool in one evaluation, and the comparison of its findings with the base's."""

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
"""Returns a tool's findings in some files of the base's copy."""


@dataclass(frozen=True, slots=True)
class StaticTrees:
    """A candidate's copy, and the base for comparison.

    Attributes:
        copy: the candidate's copy.
        files: all Python files of the candidate that must be judged.
        base: the tree with the base commit.
        changed: files that the base does not have in the same form; all of them without a base.
        place: directory for the base's copy.
        root: the candidate.
    """

    copy: AnalysedCopy
    files: tuple[str, ...]
    base: AnalysedBase | None
    changed: frozenset[str]
    place: Path
    root: Path
    _copies: list[AnalysedCopy] = field(default_factory=list[AnalysedCopy], init=False, repr=False)

    async def compare(self, found: Sequence[Finding], check_base: CheckBase) -> Comparison:
        """Return which findings are new. The base is checked only if that can matter.

        Args:
            found: the tool's findings, to which those of the copy are added.
            check_base: checks the base.
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
        """Copy the base for tools to read. Later calls return the same copy.

        Raises:
            ToolTroubleError: a file cannot be read, or the files are too large.
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
    """Copy the files for a tool to a new directory below `place`. Return None if there is nothing.

    Args:
        workspace: the candidate.
        base: the tree with the base commit.
        tool: the tool.
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
    return StaticTrees(copy, files, old, changed, own, workspace)
