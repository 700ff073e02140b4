"""Applies ruff's safe fixes, and its formatter if the project is formatted."""

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.own_python import own_python
from app.runners.evaluators.source_tree import PYTHON_SUFFIXES, python_files, same_file
from app.runners.evaluators.static.analysed_copy import AnalysedBase, copy_base, copy_candidate
from app.runners.evaluators.static.ruff_rules import LintRules, lay_out, rules_of
from app.runners.evaluators.static.ruff_tool import ruff_binary
from app.runners.evaluators.static.silencing_comments import Tool
from app.runners.evaluators.tooling import Scratch, ToolTroubleError, run_tool, scratch

_CHECK = (
    "check",
    "--fix",
    "--no-unsafe-fixes",
    "--exit-zero",
    "--no-cache",
    "--no-respect-gitignore",
    "--quiet",
)
_FORMAT = ("format", "--no-cache", "--no-respect-gitignore", "--quiet")
_CLEAN = 0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SafeFixes:
    """Fixes files that an agent has changed.

    The rules are those of the lint gate: the base's, never the candidate's. Files are formatted only if all
    of the base is formatted. Nothing in the tree is executed.

    Attributes:
        timeout: seconds for each run of ruff.
    """

    timeout: float = 30.0

    async def apply(self, tree: Path, base: Path, changed: Sequence[str]) -> list[str]:
        """Fix files in `tree`. If anything goes wrong, all files stay unchanged.

        Args:
            tree: the agent's tree, after its work.
            base: the tree of the base commit.
            changed: paths relative to the tree.

        Returns:
            The files that the fixes changed.
        """
        files = await asyncio.to_thread(_fixable, tree, changed)
        if not files:
            return []
        try:
            with scratch(own_python()) as scraps:
                return await self._fix(_Fixing(tree, base, files, scraps, self.timeout))
        except (ToolTroubleError, OSError) as trouble:
            logger.warning("skipped safe fixes: %s", trouble)
            return []

    async def _fix(self, fixing: "_Fixing") -> list[str]:
        rules = await asyncio.to_thread(rules_of, fixing.base)
        copy, files = await asyncio.to_thread(fixing.copy_tree, rules)
        if not files:
            return []
        await fixing.ruff(copy, _CHECK, rules, files)
        if await fixing.base_is_formatted(rules):
            await fixing.ruff(copy, _FORMAT, _for_format(rules), files)
        return await asyncio.to_thread(_take_over, copy, fixing.tree, files)


@dataclass(frozen=True, slots=True)
class _Fixing:
    tree: Path
    base: Path
    files: Sequence[str]
    scraps: Scratch
    seconds: float

    def copy_tree(self, rules: LintRules) -> tuple[Path, list[str]]:
        """Copy all Python files, because import order depends on which modules belong to the project.

        Returns:
            The copy, and the files to fix that the copy holds byte for byte. That excludes files in other
                encodings
            and with other line endings.
        """
        into = self.scraps.path / "candidate"
        everything = sorted({*python_files(self.tree), *self.files})
        copy_candidate(self.tree, everything, None, Tool.LINTER, into, allow=True)
        lay_out(rules, into)
        return into, [name for name in self.files if same_file(into / name, self.tree / name)]

    async def base_is_formatted(self, rules: LintRules) -> bool:
        files = await asyncio.to_thread(python_files, self.base)
        if not files:
            return False
        into = self.scraps.path / "base"
        copy = await asyncio.to_thread(copy_base, AnalysedBase(self.base, tuple(files)), into)
        await asyncio.to_thread(lay_out, rules, into)
        check = (*_FORMAT, "--check")
        return bool(copy.files) and await self.ruff(into, check, _for_format(rules), copy.files) == _CLEAN

    async def ruff(self, cwd: Path, command: Sequence[str], rules: LintRules, files: Iterable[str]) -> int:
        listing = self.scraps.path / "files"
        listing.write_text("".join(f"./{name}\n" for name in files))
        argv = [ruff_binary(), *command, *rules.arguments, f"@{listing}"]
        outcome = await run_tool(argv, cwd=cwd, env=self.scraps.env, timeout=self.seconds)
        return outcome.returncode


def _for_format(rules: LintRules) -> LintRules:
    """Return the rules without the arguments that only lint accepts."""
    kept = ("--isolated", "--force-exclude", "--exclude=", "--target-version=")
    return LintRules(
        tuple(each for each in rules.arguments if each.startswith(kept)), rules.source, rules.files
    )


def _fixable(tree: Path, changed: Iterable[str]) -> list[str]:
    """Return the changed Python files that are regular files of the tree."""
    root = tree.resolve()
    return [
        name
        for name in changed
        if name.endswith(PYTHON_SUFFIXES)
        and (root / name).is_file()
        and (root / name).resolve() == root / name
    ]


def _take_over(copy: Path, tree: Path, files: Iterable[str]) -> list[str]:
    """Write the files that changed in the copy back to the tree."""
    taken = [name for name in files if not same_file(copy / name, tree / name)]
    for name in taken:
        _replace(tree / name, (copy / name).read_bytes())
    return taken


def _replace(path: Path, data: bytes) -> None:
    # A new file replaces the old one, so other hard links to the old one stay unchanged.
    number, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, "wb") as file:
        file.write(data)
    shutil.copymode(path, name)
    Path(name).replace(path)
