"""Calls ty and reads its report."""

import asyncio
import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.static.baseline import Finding
from app.runners.evaluators.static.path_globs import is_among
from app.runners.evaluators.static.type_tool import Checked, SettingsUnusableError
from app.runners.evaluators.tooling import Scratch, ToolTroubleError, excerpt, run_tool

_OWN_FILE = "ty.toml"
_CLEAN, _FINDINGS, _BROKEN = 0, 1, 2
_INDEXED = re.compile(r"\bIndexed (\d+) file\(s\)")
_ERRORS = frozenset({"major", "critical", "blocker"})
_ENVIRONMENT = frozenset({"unresolved-import"})
# Printed in place of a rule if a file could not be read.
_UNREAD = "io"


@dataclass(frozen=True, slots=True)
class TySettings:
    """Rules, and the files to which they apply.

    Attributes:
        files: configuration files to put into the tree.
        source: who chose them, for people.
        include: patterns of files to check; empty means all.
        exclude: patterns of files to leave out; one that begins with `!` includes files again.
    """

    files: Mapping[str, bytes]
    source: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


# The file may be empty, but must exist: otherwise ty searches the directories above for one.
BUILT_IN = TySettings({_OWN_FILE: b""}, "built-in")


@dataclass(frozen=True, slots=True)
class Ty:
    """The checker.

    Attributes:
        binary: its program.
        scraps: provides its environment.
        settings: how to call it.
        python: interpreter with the installed packages that count.
        seconds: time limit for one call.
    """

    binary: Path
    scraps: Scratch
    settings: TySettings
    python: Path
    seconds: float
    name: str = "ty"

    @property
    def source(self) -> str:
        """Who chose the settings."""
        return self.settings.source

    @property
    def configured(self) -> bool:
        """True if the base configures this tool, whether or not its settings can be used."""
        return self.settings.source != BUILT_IN.source

    def covers(self, name: str) -> bool:
        """Return True if the settings include this file."""
        if self.settings.include and not is_among(name, self.settings.include):
            return False
        covered = True
        for pattern in self.settings.exclude:
            if is_among(name, [pattern.removeprefix("!")], anywhere=True):
                covered = pattern.startswith("!")
        return covered

    def follows(self, name: str) -> bool:
        """Return False: files that checked ones import are not checked."""
        return False

    def needs_all(self, files: Sequence[str]) -> bool:
        """Return False: each file is checked by itself, with its imports."""
        return False

    async def check(self, tree: Path, files: Sequence[str], changed: Collection[str]) -> Checked:
        """Check the files together."""
        await asyncio.to_thread(_lay_out, self.settings.files, tree)
        outcome = await run_tool(
            [
                *(
                    str(self.binary),
                    "check",
                    "--output-format=gitlab",
                    "--no-progress",
                    "--color=never",
                    "-v",
                ),
                *(
                    "--no-respect-ignore-files",
                    "--no-force-exclude",
                    f"--python={self.python}",
                    "--project=.",
                ),
                *("--", *(f"./{name}" for name in files)),
            ],
            cwd=tree,
            env=self.scraps.env,
            timeout=self.seconds,
            output_limit=64_000_000,
        )
        detail = excerpt(outcome.stderr, 300)
        if outcome.truncated:
            raise ToolTroubleError("ty's report is too long to be read")
        if outcome.returncode == _BROKEN and not outcome.stdout.strip() and self.settings is not BUILT_IN:
            raise SettingsUnusableError(f"the project's own cannot be used: {detail}")
        if outcome.returncode not in (_CLEAN, _FINDINGS):
            raise ToolTroubleError(f"ty ended with status {outcome.returncode}: {detail}")
        _assert_complete(outcome.stderr, len(files))
        return Checked(_read(outcome.stdout, tree))


def ty_settings(base: Path | None) -> TySettings:
    """Return the settings at the root of the base tree, or the checker's own."""
    for name in (_OWN_FILE, "pyproject.toml"):
        path = base / name if base else None
        if path is None or not path.is_file():
            continue
        data = path.read_bytes()
        section = _section(name, data)
        if section is not None:
            source: object = section.get("src")
            files = cast("Mapping[str, Any]", source if isinstance(source, dict) else {})
            include, exclude = _texts(files.get("include")), _texts(files.get("exclude"))
            return TySettings({name: data}, f"base {name}", include, exclude)
    if base and (base / _OWN_FILE).is_file():
        return replace(BUILT_IN, source=f"built-in (base {_OWN_FILE} cannot be read)")
    return BUILT_IN


def _section(name: str, data: bytes) -> Mapping[str, Any] | None:
    try:
        document = tomllib.loads(data.decode())
        section = document if name == _OWN_FILE else document.get("tool", {}).get("ty")
    except (ValueError, AttributeError, RecursionError):
        return None
    return cast("Mapping[str, Any]", section) if isinstance(section, dict) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, cast("list[object]", value))) if isinstance(value, list) else ()


def _lay_out(files: Mapping[str, bytes], tree: Path) -> None:
    for name, data in files.items():
        (tree / name).write_bytes(data)


def _assert_complete(log: str, expected: int) -> None:
    said = _INDEXED.findall(log)
    if not said or int(said[-1]) != expected:
        raise ToolTroubleError(f"ty does not say that it analysed {expected} files: {excerpt(log, 200)}")


def _read(report: str, tree: Path) -> tuple[Finding, ...]:
    try:
        records = cast("list[dict[str, Any]]", json.loads(report))
        found = [_finding(each, tree) for each in records if each["severity"] in _ERRORS]
    except (ValueError, KeyError, TypeError) as error:
        raise ToolTroubleError(f"ty's report cannot be read: {report[:200]}") from error
    for each in found:
        if each.rule == _UNREAD:
            raise ToolTroubleError(f"ty could not read everything: {each.message}")
    return tuple(each for each in found if each.rule not in _ENVIRONMENT)


def _finding(record: Mapping[str, Any], tree: Path) -> Finding:
    rule, path = str(record["check_name"]), Path(str(record["location"]["path"]))
    return Finding(
        file=path.relative_to(tree).as_posix() if path.is_relative_to(tree) else path.as_posix(),
        line=int(record["location"]["positions"]["begin"]["line"]),
        rule=rule,
        message=" ".join(str(record["description"]).removeprefix(f"{rule}: ").split()),
    )
