"""Chooses the type checker's configuration: the base tree's, except parts that could run code."""

import configparser
import fnmatch
import json
import posixpath
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from app.runners.evaluators.static.source_roots import source_roots
from app.runners.evaluators.static.type_scope import places_checked

# Not reported: missing annotations, and ends of functions that only the checker considers reachable.
_QUIET = (
    "--ignore-missing-imports",
    "--follow-imports=silent",
    "--disable-error-code=var-annotated",
    "--disable-error-code=return",
)
# These are installed with this program, so they run no code of the workspace.
_OUR_PLUGINS = frozenset({"pydantic.mypy"})
_INI_PLUGINS = re.compile(r"^plugins[ \t]*[=:].*\n(?:[ \t]+\S.*\n)*", re.MULTILINE)
_TOML_PLUGINS = re.compile(
    r"^[ \t]*plugins[ \t]*=[ \t]*(?:\[[^\]]*\]|\"[^\"\n]*\"|'[^'\n]*')[^\n]*\n", re.MULTILINE
)
_OWN_FILES = ("mypy.ini", ".mypy.ini")


@dataclass(frozen=True, slots=True)
class TypeSettings:
    """How to call the type checker.

    Attributes:
        arguments: for its command line.
        source: who chose them, for people.
        config_text: content of the configuration file to write, with `config_name`; None for no file.
        scope: paths or globs that the project checks, by the files, packages and modules in its
            configuration, or else by its own calls of mypy; empty means every file.
        excluded: regular expressions of paths that the project leaves out.
        search: directories, relative to the tree, from which modules are imported besides the tree itself.
    """

    arguments: tuple[str, ...]
    source: str
    config_name: str = ""
    config_text: str | None = None
    scope: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    search: tuple[str, ...] = ("src",)

    def follows(self, name: str) -> bool:
        """Return True if errors in this file count when a checked one imports it, which is mypy's default."""
        return not self._excludes(name) and "follow_imports" not in (self.config_text or "")

    def covers(self, name: str) -> bool:
        """Return True if the project checks this file."""
        if self._excludes(name):
            return False
        return not self.scope or any(_within(name, place) for place in self.scope)

    def _excludes(self, name: str) -> bool:
        """Return True if a pattern matches the file, or a directory around it, which is `docs/`."""
        around = [f"{name[:end]}/" for end, each in enumerate(name) if each == "/"]
        return any(re.search(pattern, each) for pattern in self.excluded for each in (name, *around))


BUILT_IN = TypeSettings(arguments=_QUIET, source="built-in")


def settings_of(base: Path | None) -> TypeSettings:
    """Return the settings at the root of the base tree, or quiet ones of our own.

    A file for mypy alone shows that the project uses it, even if it cannot be read. Plug-ins are code that
    runs in the checker, so only those that come with this program are loaded.
    """
    if base is None:
        return BUILT_IN
    for name, section in _sections(base):
        try:
            return _from_section(base / name, section)
        except (re.error, ValueError) as error:
            return TypeSettings(_QUIET, f"built-in (base {name} cannot be used: {error})")
    for name in _OWN_FILES:
        if (base / name).is_file():  # the file has no section for it
            return TypeSettings(_QUIET, f"built-in (base {name} cannot be read)")
    return BUILT_IN


def _from_section(path: Path, section: Mapping[str, Any]) -> TypeSettings:
    excluded = section.get("exclude") or ()
    patterns = (excluded.strip(),) if isinstance(excluded, str) else tuple(map(str, excluded))
    for pattern in patterns:
        re.compile(pattern)
    search = tuple(dict.fromkeys(("src", *_listed(section.get("mypy_path")), *source_roots(path.parent))))
    text, dropped = _without_plugins(path.name, path.read_text(encoding="utf-8"), section)
    return TypeSettings(
        arguments=("--follow-imports=silent",),
        source=f"base {path.name}" + (f", without its plugins {', '.join(dropped)}" if dropped else ""),
        config_name=path.name,
        config_text=text,
        scope=(
            _listed(section.get("files"))
            or _places_of(section, path.parent, search)
            or places_checked(path.parent)
        ),
        excluded=tuple(pattern for pattern in patterns if pattern),
        search=search,
    )


def _places_of(section: Mapping[str, Any], base: Path, search: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of the packages and modules that the settings name; none if one is not in the tree."""
    named = [*_listed(section.get("packages")), *_listed(section.get("modules"))]
    found = [_place_of(each.replace(".", "/"), base, search) for each in named]
    return tuple(each for each in found if each) if all(found) else ()


def _place_of(path: str, base: Path, search: Sequence[str]) -> str:
    for root in (".", *search):
        for each in (path, f"{path}.py", f"{path}.pyi"):
            if (base / root / each).exists():
                return posixpath.normpath(posixpath.join(root, each))
    return ""


def _without_plugins(name: str, text: str, section: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Remove the plug-ins that are not ours. Return the remaining text, and their names.

    Raises:
        ValueError: they cannot be removed.
    """
    plugins = [each.strip() for each in _listed(section.get("plugins"))]
    dropped = [each for each in plugins if each not in _OUR_PLUGINS]
    if not dropped:
        return text, []
    kept = [each for each in plugins if each in _OUR_PLUGINS]
    toml = name.endswith(".toml")
    pattern, value = (_TOML_PLUGINS, json.dumps(kept)) if toml else (_INI_PLUGINS, ",".join(kept))
    changed = pattern.sub(f"plugins = {value}\n" if kept else "\n", text)
    left = _parse(name, changed)
    if (
        left is None
        or {**left, "plugins": ""} != {**section, "plugins": ""}
        or set(_listed(left.get("plugins"))) != set(kept)
    ):
        raise ValueError("its plugins cannot be taken out")
    return changed, dropped


def _sections(base: Path) -> "list[tuple[str, Mapping[str, Any]]]":
    """Return the configuration files that mypy would read, in order of precedence."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for name in (*_OWN_FILES, "pyproject.toml", "setup.cfg"):
        path = base / name
        section = _read_section(path) if path.is_file() else None
        if section is not None:
            found.append((name, section))
    return found


def _read_section(path: Path) -> Mapping[str, Any] | None:
    try:
        return _parse(path.name, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return None


def _parse(name: str, text: str) -> Mapping[str, Any] | None:
    try:
        if name.endswith(".toml"):
            return cast("Mapping[str, Any] | None", tomllib.loads(text).get("tool", {}).get("mypy"))
        parser = configparser.RawConfigParser()
        parser.read_string(text)
        return dict(parser["mypy"]) if "mypy" in parser else None
    except (tomllib.TOMLDecodeError, configparser.Error, AttributeError, RecursionError):
        return None


def _listed(value: object) -> tuple[str, ...]:
    """Split a value that mypy reads as a list: a text with commas, colons and line ends, or a real list."""
    if isinstance(value, str):
        parts = re.split(r"[,:\n]", value)
    elif isinstance(value, list):
        parts = [str(each) for each in cast("list[object]", value)]
    else:
        parts = []
    cleaned = (
        part.strip().replace("$MYPY_CONFIG_FILE_DIR", ".").removeprefix("./").rstrip("/") for part in parts
    )
    return tuple(part or "." for part in cleaned if part not in ("", "/")) if value else ()


def _within(name: str, place: str) -> bool:
    return place == "." or name == place or name.startswith(f"{place}/") or fnmatch.fnmatch(name, place)
