"""The settings that the gates' tools would read in one directory, whichever file holds them. Pure."""

import configparser
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

Value = bool | str | tuple[str, ...]
Read = Callable[[str], bytes | None]

_PYTEST_LINES = frozenset({"markers", "filterwarnings"})
_PYTEST_WORDS = frozenset(
    {
        *("testpaths", "norecursedirs", "python_files", "python_classes", "python_functions", "pythonpath"),
        *("addopts", "usefixtures", "required_plugins"),
    }
)
_MYPY_LISTS = frozenset(
    {"files", "packages", "modules", "plugins", "enable_error_code", "disable_error_code"}
)
# Ruff formerly read these settings at the top level instead of under `lint`.
_RUFF_TOP = frozenset(
    {
        *("extend", "line-length", "indent-width", "target-version", "required-version", "src", "fix"),
        *("fix-only", "unsafe-fixes", "show-fixes", "output-format", "cache-dir", "respect-gitignore"),
        *("include", "extend-include", "exclude", "extend-exclude", "force-exclude", "builtins"),
        *("namespace-packages", "per-file-target-version", "preview", "lint", "format", "analyze"),
    }
)
_RUFF_JOINED = {
    "lint.extend-ignore": "lint.ignore",
    "lint.extend-per-file-ignores": "lint.per-file-ignores",
    "lint.extend-fixable": "lint.fixable",
}
_RUFF_RENAMED = re.compile(r"^TCH(\d*)$")
"""Rules that Ruff 0.8 calls `TC`."""


class UnreadableSettingsError(ValueError):
    """A file of settings cannot be read.

    Attributes:
        file: its name.
    """

    def __init__(self, file: str) -> None:
        super().__init__(f"{file} cannot be read")
        self.file = file


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The settings that one tool would read.

    Attributes:
        file: the name of the file that holds them.
        prefix: precedes each key in names of settings, such as `tool.ruff.`.
        values: by key, with nested tables as dotted keys.
    """

    file: str
    prefix: str
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _Place:
    """A place where a tool looks: a file, and the path of a table in it; a section's name for INI files."""

    file: str
    table: tuple[str, ...] = ()
    # True if the file counts even without the table.
    always: bool = False


# In the order in which each tool looks.
_PLACES: Mapping[str, tuple[_Place, ...]] = {
    "pytest": (
        _Place("pytest.toml", ("pytest",), always=True),
        _Place(".pytest.toml", ("pytest",), always=True),
        _Place("pytest.ini", ("pytest",), always=True),
        _Place(".pytest.ini", ("pytest",), always=True),
        _Place("pyproject.toml", ("tool", "pytest", "ini_options")),
        _Place("pyproject.toml", ("tool", "pytest")),
        _Place("tox.ini", ("pytest",)),
        _Place("setup.cfg", ("tool:pytest",)),
    ),
    "ruff": (
        _Place(".ruff.toml", always=True),
        _Place("ruff.toml", always=True),
        _Place("pyproject.toml", ("tool", "ruff")),
    ),
    "mypy": (
        _Place("mypy.ini", ("mypy",), always=True),
        _Place(".mypy.ini", ("mypy",), always=True),
        _Place("pyproject.toml", ("tool", "mypy")),
        _Place("setup.cfg", ("mypy",)),
    ),
    "pyright": (_Place("pyrightconfig.json", always=True), _Place("pyproject.toml", ("tool", "pyright"))),
    "basedpyright": (_Place("pyproject.toml", ("tool", "basedpyright")),),
    "ty": (_Place("ty.toml", always=True), _Place("pyproject.toml", ("tool", "ty"))),
    "build-system": (_Place("pyproject.toml", ("build-system",)),),
}
SETTINGS_FILES = frozenset(place.file for places in _PLACES.values() for place in places)
"""Names of the files from which a tool of the gates reads settings."""


def settings_in(read: Read) -> dict[str, ToolSettings]:
    """Return the settings of each tool that has some.

    Args:
        read: returns the content of a file of the directory by name; None if there is none.

    Raises:
        UnreadableSettingsError: a file that a tool would read is not valid TOML, INI or JSON.
    """
    documents = {name: _document(name, read(name)) for name in sorted(SETTINGS_FILES)}
    found = ((tool, _first(tool, places, documents)) for tool, places in _PLACES.items())
    return {tool: settings for tool, settings in found if settings is not None}


def _first(
    tool: str, places: tuple[_Place, ...], documents: Mapping[str, dict[str, Any] | None]
) -> ToolSettings | None:
    for place in places:
        document = documents[place.file]
        if document is None:
            continue
        table = _inside(document, place.table)
        if table is None and not place.always:
            continue
        values = _READERS.get(tool, _plain)(table or {}, document)
        prefix = "".join(f"{part}." for part in place.table)
        return ToolSettings(place.file, prefix, values)
    return None


def _inside(document: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    table: Mapping[str, Any] = document
    for part in path:
        value: object = table.get(part)
        if not isinstance(value, dict):
            return None
        table = cast("dict[str, Any]", value)
    return dict(table)


def _document(name: str, content: bytes | None) -> dict[str, Any] | None:
    if content is None:
        return None
    try:
        text = content.decode("utf-8")
        if name.endswith(".toml"):
            return tomllib.loads(text)
        if name.endswith(".json"):
            loaded: object = json.loads(text)
            return cast("dict[str, Any]", loaded) if isinstance(loaded, dict) else {}
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
    except (ValueError, RecursionError, configparser.Error) as error:
        raise UnreadableSettingsError(name) from error
    return {section: dict(parser[section]) for section in parser.sections()}


def _plain(table: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, Value]:
    return dict(_flat(table, ""))


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Value]]:
    for key, value in table.items():
        inner = _table(value)
        if inner:
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _value(cast("object", value))


def _value(value: object) -> Value:
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return tuple(
            each if isinstance(each, str) else json.dumps(each, default=str)
            for each in _list(cast("object", value))
        )
    text = str(value).strip()
    return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(
        text.lower(), text
    )


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _of_pytest(table: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in table.items():
        if isinstance(value, str) and key in _PYTEST_LINES:
            found[key] = tuple(filter(None, map(str.strip, value.splitlines())))
        elif isinstance(value, str) and key in _PYTEST_WORDS:
            found[key] = tuple(_words(value))
        elif key != "ini_options":
            found[key] = _value(value)
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _of_ruff(table: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in _flat(table, ""):
        moved = key if key.partition(".")[0] in _RUFF_TOP else f"lint.{key}"
        for old, new in _RUFF_JOINED.items():
            if moved == old or moved.startswith(f"{old}."):
                moved = new + moved[len(old) :]
        if isinstance(value, tuple):
            value = tuple(_RUFF_RENAMED.sub(r"TC\1", each) for each in value)
        before = found.get(moved)
        if isinstance(before, tuple) and isinstance(value, tuple):
            found[moved] = (*before, *value)
        else:
            found[moved] = value
    more = found.get("lint.extend-select")
    chosen = found.get("lint.select")
    if isinstance(more, tuple) and isinstance(chosen, tuple):
        found["lint.select"] = (*chosen, *more)
        del found["lint.extend-select"]
    return found


def _of_mypy(table: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Value]:
    found = {key: _mypy_value(key, value) for key, value in table.items() if key != "overrides"}
    for override in _list(table.get("overrides")):
        found.update(_overridden(_table(override)))
    for section, values in document.items():
        if section.startswith("mypy-") and isinstance(values, dict):
            modules = section.removeprefix("mypy-").split(",")
            found.update(_overridden({**values, "module": [each.strip() for each in modules]}))
    return found


def _overridden(override: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    module = override.get("module", ())
    for name in [module] if isinstance(module, str) else _list(module):
        for key, value in override.items():
            if key != "module":
                yield f"overrides.{name}.{key}", _mypy_value(key, value)


def _mypy_value(key: str, value: object) -> Value:
    if isinstance(value, str) and key in _MYPY_LISTS:
        return tuple(part.strip() for part in value.replace("\n", ",").split(",") if part.strip())
    return _value(value)


_READERS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Value]]] = {
    "pytest": _of_pytest,
    "ruff": _of_ruff,
    "mypy": _of_mypy,
}
