"""The lint gate: ruff under a configuration that the candidate cannot change."""

import asyncio
import json
import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ruff import find_ruff_bin

from app.runners.evaluators.baseline import Comparison, Finding, Wording, compare, result_of
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

_WORDING = Wording("lint error", "The code passes all lint checks", "no_new_lint_errors")

# Rules that speak of faults, not of taste: E4 and E7 fail one in eight of HumanEval's good solutions, these
# none. Re-exports are what an `__init__.py` is for.
_QUIET = (
    "--isolated",
    "--select=E9,F",
    "--per-file-ignores=__init__.py:F401",
    f"--target-version=py{sys.version_info.major}{sys.version_info.minor}",
)
_ALWAYS = ("--no-cache", "--no-respect-gitignore", "--no-fix", "--no-fix-only")
_OWN_FILES = (".ruff.toml", "ruff.toml")
_CLEAN, _FINDINGS, _BROKEN = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Rules:
    """Arguments that choose the rules, and who chose them."""

    arguments: tuple[str, ...]
    source: str


_DEFAULT_RULES = _Rules(_QUIET, "built-in")


class _RulesUnusableError(Exception):
    """The project's own configuration is not one that this version of ruff can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuffLintEvaluator:
    """Fails on lint errors that the base does not have.

    The rules are those of the base tree's configuration; without one, a small set that finds faults and no
    matters of taste. What the candidate configures, excludes or silences (`noqa`) changes nothing.
    Loses 0.1 of the score for each new error.

    Attributes:
        timeout: seconds for ruff; it usually needs hundredths of one.
    """

    timeout: float = 30.0
    name: str = "ruff_lint"
    category: EvaluationCategory = EvaluationCategory.COMPLIANCE
    version: str = "1"
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Lint the workspace; `output` and `phase` play no part."""
        workspace = find_workspace(self, context, "lint")
        if isinstance(workspace, EvaluationResult):
            return workspace
        try:
            return await self._judge(workspace, find_base(context), seconds_for(context, self.timeout))
        except ToolTroubleError as trouble:
            return errored(self, str(trouble))

    async def _judge(self, workspace: Path, base: Path | None, seconds: float) -> EvaluationResult:
        files = await asyncio.to_thread(python_files, workspace)
        if not files:
            return skipped(self, "No Python files to lint")
        if nameless := [name for name in files if not is_plain_name(name)]:
            return result_of(self, Comparison(tuple(map(_misnamed, nameless)), ()), _WORDING)
        with scratch(Path(sys.executable)) as scraps:
            ruff = _Ruff(_binary(), scraps, seconds)
            rules = _project_rules(base) if base else _DEFAULT_RULES
            try:
                return await self._compare(ruff, rules, workspace, base, files)
            except _RulesUnusableError as unusable:
                rules = _Rules(_QUIET, f"built-in ({unusable})")
                return await self._compare(ruff, rules, workspace, base, files)

    async def _compare(
        self, ruff: "_Ruff", rules: _Rules, workspace: Path, base: Path | None, files: Sequence[str]
    ) -> EvaluationResult:
        wanted = await ruff.selected(workspace, files, rules)
        if not wanted:
            return skipped(
                self, f"The project's configuration ({rules.source}) excludes every file from lint"
            )
        found = await ruff.findings(workspace, wanted, rules)
        comparison = Comparison(tuple(found), ())
        if found and base:
            base_files = await asyncio.to_thread(python_files, base)
            gone = set(base_files) - set(files)
            relevant = sorted(({each.file for each in found} & set(base_files)) | gone)
            at_base = await ruff.findings(base, relevant, rules) if relevant else []
            comparison = compare(found, at_base, gone=gone)
        return result_of(
            self, comparison, _WORDING, files_checked=len(wanted), configuration=rules.source, tool="ruff"
        )


@dataclass(frozen=True, slots=True)
class _Ruff:
    """The linter, as two questions about a list of files."""

    binary: str
    scraps: Scratch
    seconds: float

    async def selected(self, tree: Path, files: Sequence[str], rules: _Rules) -> list[str]:
        """Say which of the files ruff will analyse; under the built-in rules that must be all of them."""
        outcome = await self._run(tree, files, rules, "--show-files")
        names = {_relative(line, tree) for line in outcome.splitlines() if line.startswith(os.sep)}
        chosen = [name for name in files if name in names]
        if rules.arguments == _QUIET and len(chosen) != len(files):
            missing = sorted(set(files) - names)
            raise ToolTroubleError(
                f"ruff would leave out {len(missing)} of {len(files)} files: {missing[:3]}"
            )
        return chosen

    async def findings(self, tree: Path, files: Sequence[str], rules: _Rules) -> list[Finding]:
        """Lint the files."""
        report = await self._run(tree, files, rules, "--ignore-noqa", "--output-format=json-lines")
        return sorted(_finding(line, tree) for line in report.splitlines() if line.strip())

    async def _run(self, tree: Path, files: Sequence[str], rules: _Rules, *arguments: str) -> str:
        listing = self.scraps.path / "files"
        listing.write_text("".join(f"./{name}\n" for name in files))
        outcome = await run_tool(
            [self.binary, "check", *_ALWAYS, *rules.arguments, *arguments, f"@{listing}"],
            cwd=tree,
            env=self.scraps.env,
            timeout=self.seconds,
            output_limit=64_000_000,
        )
        if outcome.returncode == _BROKEN and rules.arguments != _QUIET:
            raise _RulesUnusableError(f"the project's own cannot be used: {excerpt(outcome.stderr, 300)}")
        report = outcome.stdout
        if outcome.truncated:
            raise ToolTroubleError("ruff's report is too long to be read")
        if outcome.returncode not in (_CLEAN, _FINDINGS) or (
            outcome.returncode == _FINDINGS
        ) != _has_findings(report, arguments):
            detail = excerpt(outcome.stderr) or "nothing on its error stream"
            raise ToolTroubleError(f"ruff ended with status {outcome.returncode}: {detail}")
        return report


def _has_findings(report: str, arguments: Sequence[str]) -> bool:
    return "--show-files" not in arguments and bool(report.strip())


def _finding(line: str, tree: Path) -> Finding:
    try:
        record = cast("dict[str, Any]", json.loads(line))
        return Finding(
            file=_relative(record["filename"], tree),
            line=int(record["location"]["row"]),
            rule=str(record["code"] or record.get("name") or "invalid-syntax"),
            message=str(record["message"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ToolTroubleError(f"ruff's report cannot be read: {line[:200]}") from error


def _relative(name: str, tree: Path) -> str:
    return Path(os.path.relpath(name, tree)).as_posix()


def _misnamed(name: str) -> Finding:
    message = "the file's name holds a line break or is not UTF-8, so no tool can be pointed at it; rename it"
    return Finding(ascii(name), 1, "file-name", message)


def _binary() -> str:
    try:
        return find_ruff_bin()
    except FileNotFoundError as error:
        raise ToolTroubleError("ruff is not installed beside this program") from error


def _project_rules(base: Path) -> _Rules:
    """Choose the configuration file at the root of the base tree, as ruff itself would."""
    for name in _OWN_FILES:
        if (base / name).is_file():
            return _from_file(base / name)
    pyproject = base / "pyproject.toml"
    if pyproject.is_file():
        try:
            document = tomllib.loads(pyproject.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            return _DEFAULT_RULES
        if "ruff" in document.get("tool", {}):
            return _from_file(pyproject)
    return _DEFAULT_RULES


def _from_file(path: Path) -> _Rules:
    # The files are named one by one; without --force-exclude ruff would lint what the project excludes.
    # E9 is where ruff says that it could not read a file.
    return _Rules((f"--config={path}", "--force-exclude", "--extend-select=E9"), f"base {path.name}")
