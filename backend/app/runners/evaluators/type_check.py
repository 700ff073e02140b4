"""The type gate: mypy under a configuration that the candidate cannot change and that runs no code."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.baseline import Comparison, Finding, Wording, compare, result_of
from app.runners.evaluators.module_names import batches
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    errored,
    skipped,
)
from app.runners.evaluators.source_tree import is_plain_name, python_files
from app.runners.evaluators.tooling import (
    Scratch,
    ToolTroubleError,
    excerpt,
    find_base,
    find_workspace,
    run_tool,
    scratch,
    seconds_for,
)
from app.runners.evaluators.type_settings import BUILT_IN, TypeSettings, settings_of

_WORDING = Wording("type error", "The code passes type checking", "no_new_type_errors")
_CLEAN, _FINDINGS, _BLOCKED = 0, 1, 2
_MAX_BATCHES = 8

# What is installed beside the checker says nothing about the code; the tests find an import that fails.
_ENVIRONMENT = frozenset({"import-not-found", "import-untyped", "import", "unused-ignore"})

# Comments that silence a whole file. Single lines may be silenced, as honest code does; a file may not.
_FILE_SILENCER = re.compile(
    r"\A(?:\s*#[^\n]*\n|\s*\n)*\s*#\s*type:\s*ignore\b|^\s*#\s*mypy:\s*[^\n]*(?:ignore-errors|disable-error-code)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCheckEvaluator:
    """Fails on type errors that the base does not have, and on files newly exempted from the check.

    The rules are those of the base tree's mypy configuration, unless it loads plugins; without one, mypy's
    own, blind to what the environment lacks. Loses 0.1 of the score for each new error.

    Attributes:
        timeout: seconds for one run of mypy.
        python: interpreter whose installed packages count; None is the one this program runs on.
    """

    timeout: float = 30.0
    python: Path | None = None
    name: str = "type_check"
    category: EvaluationCategory = EvaluationCategory.COMPLIANCE
    version: str = "1"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Check the workspace; `output` and `phase` play no part."""
        workspace = find_workspace(self, context, "type check")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            return await self._judge(workspace, find_base(context), seconds_for(context, self.timeout))
        except ToolTroubleError as trouble:
            return errored(self, str(trouble))

    async def _judge(self, workspace: Path, base: Path | None, seconds: float) -> EvaluationResult:
        files = await asyncio.to_thread(_checkable, workspace)
        if not files:
            return skipped(self, "No Python files to type check")
        settings = await asyncio.to_thread(settings_of, base)
        with scratch(Path(sys.executable)) as scraps:
            try:
                return await self._compare(
                    _Mypy(scraps, settings, self.python, seconds), workspace, base, files
                )
            except _SettingsUnusableError as unusable:
                settings = TypeSettings(BUILT_IN.arguments, f"built-in ({unusable})")
                return await self._compare(
                    _Mypy(scraps, settings, self.python, seconds), workspace, base, files
                )

    async def _compare(
        self, mypy: "_Mypy", workspace: Path, base: Path | None, files: Sequence[str]
    ) -> EvaluationResult:
        wanted = [name for name in files if mypy.settings.covers(name)]
        if not wanted:
            return skipped(
                self, f"The project's configuration ({mypy.settings.source}) has no file type checked"
            )
        checked = await mypy.check(workspace, wanted)
        found = [*checked.found, *await asyncio.to_thread(_silenced, workspace, wanted)]
        comparison = Comparison(tuple(found), ())
        if found and base:
            comparison = await self._against_base(mypy, found, base, files)
        if checked.blocked and not comparison.new:
            raise ToolTroubleError("mypy cannot get past a syntax error that the base has too")
        return result_of(
            self,
            comparison,
            _WORDING,
            files_checked=len(wanted),
            configuration=mypy.settings.source,
            tool="mypy",
        )

    async def _against_base(
        self, mypy: "_Mypy", found: Sequence[Finding], base: Path, files: Sequence[str]
    ) -> Comparison:
        base_files = await asyncio.to_thread(_checkable, base)
        gone = set(base_files) - set(files)
        relevant = sorted(({each.file for each in found} & set(base_files)) | gone)
        if not relevant:
            return compare(found, [])
        checked = await mypy.check(base, relevant)
        at_base = [*checked.found, *await asyncio.to_thread(_silenced, base, relevant)]
        return compare(found, at_base, gone=gone)


class _SettingsUnusableError(Exception):
    """The project's own configuration is not one that this version of mypy can use."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """What mypy found; `blocked` when a syntax error kept it from checking everything."""

    found: tuple[Finding, ...]
    blocked: bool


@dataclass(frozen=True, slots=True)
class _Mypy:
    """The checker, as one question about a list of files."""

    scraps: Scratch
    settings: TypeSettings
    python: Path | None
    seconds: float

    async def check(self, tree: Path, files: Sequence[str]) -> _Checked:
        """Check the files together, as far as their module names and syntax errors allow it."""
        parts = [await self._past_blockers(tree, batch) for batch in self._batches(files)]
        return _Checked(
            tuple(each for part in parts for each in part.found), any(part.blocked for part in parts)
        )

    def _batches(self, files: Sequence[str]) -> list[list[str]]:
        return batches(files, self.settings.search)[:_MAX_BATCHES]

    async def _past_blockers(self, tree: Path, files: Sequence[str]) -> _Checked:
        """Check the files; where syntax errors stop mypy, check the others once more without them."""
        first = await self._check(tree, files)
        rest = [name for name in files if name not in {each.file for each in first.found}]
        if not first.blocked or len(rest) == len(files):
            return first
        second = await self._check(tree, rest) if rest else _Checked((), blocked=False)
        return _Checked((*first.found, *second.found), second.blocked)

    async def _check(self, tree: Path, files: Sequence[str]) -> _Checked:
        listing = self.scraps.path / "files"
        listing.write_text("".join(f"./{name}\n" for name in files))
        report = self.scraps.path / "report"
        search = ":".join(str(tree / place) for place in self.settings.search if (tree / place).is_dir())
        outcome = await run_tool(
            [*self._command(tree), f"--linecount-report={report}", f"@{listing}"],
            cwd=tree,
            env={**self.scraps.env, "MYPYPATH": search},
            timeout=self.seconds,
            output_limit=64_000_000,
        )
        if outcome.truncated:
            raise ToolTroubleError("mypy's report is too long to be read")
        found = _read(outcome.stdout, tree) if outcome.returncode in (_CLEAN, _FINDINGS, _BLOCKED) else []
        if outcome.returncode == _CLEAN or (outcome.returncode == _FINDINGS and found):
            _assert_complete(report / "linecount.txt", files)
        elif outcome.returncode != _BLOCKED or not found:
            self._give_up(outcome.returncode, excerpt(outcome.stderr or outcome.stdout, 300))
        kept = tuple(each for each in found if each.rule not in _ENVIRONMENT)
        return _Checked(kept, blocked=outcome.returncode == _BLOCKED)

    def _command(self, tree: Path) -> list[str]:
        config = ""
        if self.settings.config_text is not None:
            # The file lies outside the tree, but what it says about its own directory means the tree.
            path = self.scraps.path / self.settings.config_name
            path.write_text(self.settings.config_text.replace("$MYPY_CONFIG_FILE_DIR", str(tree)))
            config = str(path)
        return [
            *(sys.executable, "-I", "-m", "mypy", "--output=json", f"--config-file={config}"),
            *("--cache-dir=/dev/null", "--num-workers=0", "--explicit-package-bases"),
            f"--python-executable={self.python or sys.executable}",
            *self.settings.arguments,
        ]

    def _give_up(self, status: int, detail: str) -> None:
        if self.settings.config_text is not None and status == _BLOCKED:
            raise _SettingsUnusableError(f"the project's own cannot be used: {detail}")
        raise ToolTroubleError(f"mypy ended with status {status}: {detail or 'nothing on its error stream'}")


def _read(report: str, tree: Path) -> list[Finding]:
    found: list[Finding] = []
    for line in filter(str.strip, report.splitlines()):
        try:
            record = cast("dict[str, Any]", json.loads(line))
            if record["severity"] == "error":
                found.append(
                    Finding(
                        file=_relative(str(record["file"]), tree),
                        line=max(1, int(record["line"])),
                        rule=str(record["code"] or "misc"),
                        message=str(record["message"]),
                    )
                )
        except (ValueError, KeyError, TypeError) as error:
            raise ToolTroubleError(f"mypy's report cannot be read: {line[:200]}") from error
    return found


def _relative(name: str, tree: Path) -> str:
    path = Path(name)
    return path.relative_to(tree).as_posix() if path.is_relative_to(tree) else path.as_posix()


def _assert_complete(report: Path, files: Sequence[str]) -> None:
    """The line counts name every module that was analysed, after one line with the total."""
    analysed = len(report.read_text().splitlines()) - 1 if report.is_file() else 0
    if analysed < len(files):
        raise ToolTroubleError(f"mypy analysed {analysed} of {len(files)} files")


def _checkable(tree: Path) -> list[str]:
    return [name for name in python_files(tree) if is_plain_name(name)]


def _silenced(tree: Path, files: Sequence[str]) -> list[Finding]:
    found: list[Finding] = []
    for name in files:
        text = (tree / name).read_text(encoding="utf-8", errors="replace")
        silencer = _FILE_SILENCER.search(text)
        if silencer:
            line = text.count("\n", 0, silencer.end()) + 1
            message = "this comment exempts the whole file from the type check; remove it"
            found.append(Finding(name, line, "file-silenced", message))
    return found
