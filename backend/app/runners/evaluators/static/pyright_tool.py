"""Calls pyright or basedpyright and reads the report."""

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

_CONFIG = "pyrightconfig.json"
_CLEAN, _FINDINGS, _BAD_CONFIG = 0, 1, 3

# Installed packages say nothing about the code, and the other rules complain about correct code.
_QUIET: Mapping[str, Any] = {
    "typeCheckingMode": "basic",
    "reportMissingModuleSource": "none",
    "reportOptionalMemberAccess": "none",
    "reportOptionalSubscript": "none",
    "reportOptionalIterable": "none",
    "reportPossiblyUnbound": "none",
}
_ENVIRONMENT = frozenset({"reportMissingImports", "reportMissingModuleSource", "reportMissingTypeStubs"})
# These name files or paths on the machine. We choose the files and the interpreter ourselves.
_OURS = ("include", "exclude", "ignore", "extends", "venv", "venvPath", "baselineFile")
# Names that the checker leaves out whatever the configuration says.
_PASSED_OVER = re.compile(r"\..*|node_modules|__pycache__|__editable__\..*")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')


@dataclass(frozen=True, slots=True)
class PyrightSettings:
    """Rules, and the files to which they apply.

    Attributes:
        rules: content of the configuration file, without the keys that name files.
        source: who chose them, for people.
        include: patterns of files to check; empty means all.
        exclude: patterns of files to leave out.
    """

    rules: Mapping[str, Any]
    source: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


BUILT_IN = PyrightSettings(_QUIET, "built-in")


@dataclass(frozen=True, slots=True)
class Pyright:
    """The checker.

    Attributes:
        name: `pyright` or `basedpyright`.
        binary: its program.
        scraps: provides its environment.
        settings: how to call it.
        python: interpreter with the installed packages that count.
        seconds: time limit for one call.
    """

    name: str
    binary: Path
    scraps: Scratch
    settings: PyrightSettings
    python: Path
    seconds: float

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
        included = not self.settings.include or is_among(name, self.settings.include)
        return included and not is_among(name, self.settings.exclude)

    def follows(self, name: str) -> bool:
        """Return False: files that checked ones import are not checked."""
        return False

    def needs_all(self, files: Sequence[str]) -> bool:
        """Return False: each file is checked by itself, with its imports."""
        return False

    async def check(self, tree: Path, files: Sequence[str], changed: Collection[str]) -> Checked:
        """Check the files together. The configuration must be in the tree, or other files are checked."""
        shown = await asyncio.to_thread(_make_visible, tree, files)
        config = {**self.settings.rules, "include": list(shown), "exclude": []}
        await asyncio.to_thread((tree / _CONFIG).write_text, json.dumps(config))
        outcome = await run_tool(
            [str(self.binary), "--outputjson", "--project", _CONFIG, "--pythonpath", str(self.python)],
            cwd=tree,
            env=self.scraps.env,
            timeout=self.seconds,
            output_limit=64_000_000,
        )
        detail = excerpt(outcome.stderr or outcome.stdout, 300)
        if outcome.truncated:
            raise ToolTroubleError(f"{self.name}'s report is too long to be read")
        if outcome.returncode == _BAD_CONFIG and self.settings is not BUILT_IN:
            raise SettingsUnusableError(f"the project's own cannot be used: {detail}")
        if outcome.returncode not in (_CLEAN, _FINDINGS):
            raise ToolTroubleError(f"{self.name} ended with status {outcome.returncode}: {detail}")
        found = self._read(outcome.stdout, tree, len(files))
        return Checked(tuple(replace(each, file=shown.get(each.file, each.file)) for each in found))

    def _read(self, report: str, tree: Path, expected: int) -> tuple[Finding, ...]:
        try:
            document = cast("dict[str, Any]", json.loads(report))
            analysed = int(document["summary"]["filesAnalyzed"])
            found = [
                _finding(each, tree) for each in document["generalDiagnostics"] if each["severity"] == "error"
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise ToolTroubleError(f"{self.name}'s report cannot be read: {report[:200]}") from error
        if analysed != expected:
            raise ToolTroubleError(f"{self.name} analysed {analysed} of {expected} files")
        return tuple(each for each in found if each.rule not in _ENVIRONMENT)


def pyright_settings(base: Path | None, name: str) -> PyrightSettings:
    """Return the settings at the root of the base tree, or quiet ones of our own."""
    for file, section in _sections(base, name) if base else ():
        kept = {key: value for key, value in section.items() if key not in _OURS}
        exclude = (*_texts(section.get("exclude")), *_texts(section.get("ignore")))
        return PyrightSettings(kept, f"base {file}", _texts(section.get("include")), exclude)
    if base and (base / _CONFIG).is_file():
        return replace(BUILT_IN, source=f"built-in (base {_CONFIG} cannot be read)")
    return BUILT_IN


def _sections(base: Path, name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the configuration that the checker would read, in order of precedence."""
    found: list[tuple[str, object]] = []
    try:
        if (base / _CONFIG).is_file():
            found.append((_CONFIG, _from_json((base / _CONFIG).read_text(encoding="utf-8-sig"))))
        if (base / "pyproject.toml").is_file():
            document = tomllib.loads((base / "pyproject.toml").read_text(encoding="utf-8"))
            tools = document.get("tool", {})
            wanted = ("basedpyright", "pyright") if name == "basedpyright" else ("pyright",)
            found += [("pyproject.toml", tools.get(each)) for each in wanted]
    except (ValueError, AttributeError, RecursionError):  # not valid: treated as if it did not exist
        pass
    return [(file, cast("Mapping[str, Any]", each)) for file, each in found if isinstance(each, dict)]


def _make_visible(tree: Path, files: Sequence[str]) -> dict[str, str]:
    """Rename files that the checker would skip. Return the files by their new names."""
    shown: dict[str, str] = {}
    for name in files:
        parts = [f"_{part}" if _PASSED_OVER.fullmatch(part) else part for part in name.split("/")]
        new = "/".join(parts)
        while new != name and (tree / new).exists():
            parts[0] = f"_{parts[0]}"
            new = "/".join(parts)
        if new != name:
            (tree / new).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).rename(tree / new)
        shown[new] = name
    return shown


def _from_json(text: str) -> object:
    """Parse JSON that may hold comments and trailing commas."""
    plain = _COMMENT.sub(lambda match: match.group(1) or " ", text)
    return json.loads(_LAST_COMMA.sub(lambda match: match.group(1) or "", plain))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, cast("list[object]", value))) if isinstance(value, list) else ()


def _finding(record: Mapping[str, Any], tree: Path) -> Finding:
    path = Path(str(record["file"]))
    return Finding(
        file=path.relative_to(tree).as_posix() if path.is_relative_to(tree) else path.as_posix(),
        line=int(record["range"]["start"]["line"]) + 1,
        rule=str(record.get("rule") or "syntax"),
        message=" ".join(str(record["message"]).split()),
    )
