"""Calls the linter and reads its report."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from packaging.version import InvalidVersion, Version
from ruff import find_ruff_bin

from app.runners.evaluators.static.baseline import INVALID_SYNTAX, Finding
from app.runners.evaluators.static.ruff_rules import LintRules
from app.runners.evaluators.tooling import Scratch, ToolTroubleError, excerpt, run_tool

_ALWAYS = ("--no-cache", "--no-respect-gitignore", "--no-fix", "--no-fix-only")
_CLEAN, _FINDINGS, _BROKEN = 0, 1, 2
_UNKNOWN = re.compile(
    r"^ +- ([A-Z]+\d*)$|(?:Unknown rule|Removed) selector `([A-Z]+\d*)`|Rule `([A-Z]+\d*)` was removed",
    re.MULTILINE,
)
_UNREADABLE = "ruff cannot parse this file and exits; simplify it"


class RulesUnusableError(Exception):
    """This version of ruff cannot read the project's own configuration.

    Attributes:
        unknown: the rules in it that this version does not have, if they are the reason.
    """

    def __init__(self, said: str) -> None:
        super().__init__(f"the project's own cannot be used: {excerpt(said, 300)}")
        self.unknown = frozenset(code for codes in _UNKNOWN.findall(said) for code in codes if code)


class _RuffEndedError(ToolTroubleError):
    """Ruff ended without a report, as it does for code that is nested too deeply."""


@dataclass(frozen=True, slots=True)
class Ruff:
    """The linter."""

    scraps: Scratch
    rules: LintRules
    seconds: float

    async def selected(self, tree: Path, files: Sequence[str]) -> list[str]:
        """Return the files that ruff will analyse. Under the built-in rules, these must be all of them.

        Raises:
            ToolTroubleError: there is no report, or files are missing in it.
            RulesUnusableError: see there.
        """
        outcome = await self._run(tree, files, "--show-files")
        names = {_relative(line, tree) for line in outcome.splitlines() if line.startswith(os.sep)}
        chosen = [name for name in files if name in names]
        if self.rules.built_in and len(chosen) != len(files):
            missing = sorted(set(files) - names)
            raise ToolTroubleError(
                f"ruff would leave out {len(missing)} of {len(files)} files: {missing[:3]}"
            )
        return chosen

    async def findings(self, tree: Path, files: Sequence[str]) -> list[Finding]:
        """Lint the files. A file that makes ruff crash is a finding, and the others are still linted.

        Raises:
            ToolTroubleError: there is no report.
            RulesUnusableError: see there.
        """
        if not files:
            return []
        try:
            report = await self._run(tree, files, "--output-format=json-lines")
        except _RuffEndedError:
            if len(files) == 1:
                return [Finding(files[0], 1, "unreadable", _UNREADABLE)]
            half = len(files) // 2
            return [*await self.findings(tree, files[:half]), *await self.findings(tree, files[half:])]
        return sorted(_finding(line, tree) for line in report.splitlines() if line.strip())

    async def unsettled(self, rules: Iterable[str], pinned: Version | None) -> frozenset[str]:
        """Return the rules that were not yet stable in the project's ruff.

        Args:
            rules: codes of rules.
            pinned: the version that the project uses; None if no file states it.

        Returns:
            Preview rules of this ruff, and rules that became stable after `pinned`.
        """
        found = [(rule, await self._about(rule)) for rule in sorted(rules)]
        return frozenset(rule for rule, about in found if _is_unsettled(about, pinned))

    async def _about(self, rule: str) -> Mapping[str, Any]:
        """Return ruff's description of a rule, or an empty mapping if there is no such rule."""
        outcome = await run_tool(
            [ruff_binary(), "rule", rule, "--output-format=json"],
            cwd=self.scraps.path,
            env=self.scraps.env,
            timeout=self.seconds,
        )
        try:
            loaded: object = json.loads(outcome.stdout or "{}")
        except ValueError:
            return {}
        return cast("dict[str, Any]", loaded) if isinstance(loaded, dict) else {}

    def under(self, rules: LintRules) -> "Ruff":
        """Return the linter with other rules."""
        return replace(self, rules=rules)

    async def _run(self, tree: Path, files: Sequence[str], *arguments: str) -> str:
        listing = self.scraps.path / "files"
        listing.write_text("".join(f"./{name}\n" for name in files))
        outcome = await run_tool(
            [ruff_binary(), "check", *_ALWAYS, *self.rules.arguments, *arguments, f"@{listing}"],
            cwd=tree,
            env=self.scraps.env,
            timeout=self.seconds,
            output_limit=64_000_000,
        )
        detail = excerpt(outcome.stderr, 300)
        if outcome.returncode == _BROKEN and not self.rules.built_in:
            raise RulesUnusableError(outcome.stderr)
        if outcome.truncated:
            raise ToolTroubleError("ruff's report is too long to be read")
        if outcome.returncode < 0:
            raise _RuffEndedError(f"ruff was ended by signal {-outcome.returncode}: {detail}")
        if outcome.returncode not in (_CLEAN, _FINDINGS) or (
            outcome.returncode == _FINDINGS
        ) != _has_findings(outcome.stdout, arguments):
            detail = detail or "nothing on its error stream"
            raise ToolTroubleError(f"ruff ended with status {outcome.returncode}: {detail}")
        return outcome.stdout


def _is_unsettled(about: Mapping[str, Any], pinned: Version | None) -> bool:
    """Decide from `ruff rule`'s output, `{"preview": ..., "status": {"Stable": {"since": "0.16.0"}}}`."""
    if about.get("preview") is True:
        return True
    status: object = about.get("status")
    stable: object = cast("dict[str, Any]", status).get("Stable") if isinstance(status, dict) else None
    since: object = cast("dict[str, Any]", stable).get("since") if isinstance(stable, dict) else None
    try:
        return pinned is not None and isinstance(since, str) and Version(since) > pinned
    except InvalidVersion:
        return False


def ruff_binary() -> str:
    """Return the path of the linter that belongs to this program.

    Raises:
        ToolTroubleError: it is missing.
    """
    try:
        return find_ruff_bin()
    except FileNotFoundError as error:
        raise ToolTroubleError("ruff is not installed next to PhaseRunner") from error


def _has_findings(report: str, arguments: Sequence[str]) -> bool:
    return "--show-files" not in arguments and bool(report.strip())


def _finding(line: str, tree: Path) -> Finding:
    try:
        record = cast("dict[str, Any]", json.loads(line))
        return Finding(
            file=_relative(record["filename"], tree),
            line=int(record["location"]["row"]),
            rule=str(record["code"] or record.get("name") or INVALID_SYNTAX),
            message=str(record["message"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ToolTroubleError(f"ruff's report cannot be read: {line[:200]}") from error


def _relative(name: str, tree: Path) -> str:
    return Path(os.path.relpath(name, tree)).as_posix()
