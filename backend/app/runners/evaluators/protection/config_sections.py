"""The sections of a project's files that configure the judging tools."""

import configparser
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, cast

_TOOLS = frozenset({"pytest", "ruff", "mypy", "coverage", "pyright", "basedpyright", "ty", "bandit"})
_INI = frozenset({"tool:pytest", "pytest", "flake8", "mypy"})
_INI_PREFIXES = ("coverage:", "mypy-")
_INI_FILES = ("setup.cfg", "tox.ini")


def has_guarded_sections(name: str) -> bool:
    """Return True if a file (POSIX path) has several uses, so only some of its sections are protected."""
    return PurePosixPath(name).name in ("pyproject.toml", *_INI_FILES)


def guarded_sections(name: str, content: bytes, *, beside: bytes | None = None) -> dict[str, Any] | None:
    """Return the protected sections of a file, or None if it cannot be read, and so sets nothing.

    Args:
        name: the file's path.
        content: the file.
        beside: an older version; markers added since then are left out.
    """
    try:
        text = content.decode("utf-8")
        if name.endswith(".toml"):
            old = tomllib.loads(beside.decode("utf-8")) if beside is not None else None
            return _of_toml(tomllib.loads(text), old)
        parser = configparser.RawConfigParser()
        parser.read_string(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, configparser.Error):
        return None
    return {
        section: dict(parser[section])
        for section in parser.sections()
        if section in _INI or section.startswith(_INI_PREFIXES)
    }


def _of_toml(document: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    tools = _table(document, "tool")
    sections: dict[str, Any] = {name: value for name, value in tools.items() if name in _TOOLS}
    if "build-system" in document:
        sections["build-system"] = document["build-system"]
    if old is not None and "pytest" in sections:
        pytest, before = _table(tools, "pytest"), _table(_table(old, "tool"), "pytest")
        options = _with_old_markers(_table(pytest, "ini_options"), _table(before, "ini_options"))
        sections["pytest"] = {**pytest, "ini_options": options} if "ini_options" in pytest else pytest
    return sections


def _with_old_markers(options: Mapping[str, Any], old: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the old markers if the new ones contain them, because declaring a marker has no effect."""
    markers, known = _list(options.get("markers")), _list(old.get("markers"))
    if markers is None or not all(each in markers for each in known or []):
        return options
    kept = {name: value for name, value in options.items() if name != "markers"}
    return {**kept, "markers": known} if known is not None else kept


def _list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
