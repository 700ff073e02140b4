"""Reads the files in which a project declares its needs: regular files in its tree, of bounded size."""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from app.core.python_source import parse_module

MAX_BYTES = 20_000_000
_MAX_DEPTH = 20
_MOST_REFERENCES = 100
_REFERENCE = re.compile(r"\s*%\(([^()]+)\)s\s*")


class DeclarationError(Exception):
    """A project's declared needs cannot be read. The message names the file."""


def read_text(tree: Path, name: str) -> str | None:
    """Return a file's text, or None if the tree has no such file.

    A link that leads out of the tree counts as missing, because its target must not get into error messages.

    Raises:
        DeclarationError: the file is too large, not UTF-8 or cannot be read.
    """
    path = tree / name
    try:
        if not path.is_file() or not path.resolve().is_relative_to(tree.resolve()):
            return None
        if path.stat().st_size > MAX_BYTES:
            raise DeclarationError(f"{name} is larger than {MAX_BYTES} bytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DeclarationError(f"{name} is not UTF-8") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise DeclarationError(f"{name} cannot be read: {error}") from error


def read_toml(tree: Path, name: str) -> Mapping[str, Any]:
    """Return a TOML file's content, or an empty mapping without the file.

    Raises:
        DeclarationError: it cannot be read.
    """
    try:
        return tomllib.loads(read_text(tree, name) or "")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DeclarationError(f"{name} is not valid TOML: {error}") from error


def read_ini(tree: Path, name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of an INI file, or an empty mapping without the file.

    A line that only refers to another setting of its section, as in `%(name)s`, is replaced by that setting.

    Raises:
        DeclarationError: it cannot be read.
    """
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(read_text(tree, name) or "")
    except configparser.Error as error:
        raise DeclarationError(f"{name} cannot be read: {error.message}") from error
    sections = {section: dict(parser.items(section)) for section in parser.sections()}
    return {
        section: {key: "\n".join(_lines_of(key, settings, set())) for key in settings}
        for section, settings in sections.items()
    }


def _lines_of(key: str, settings: Mapping[str, str], seen: set[str]) -> Iterator[str]:
    """Yield the lines of a setting with the lines of those it refers to, each of these once."""
    seen.add(key)
    for line in settings[key].split("\n"):
        named = _REFERENCE.fullmatch(line)
        if named is None or named[1].lower() not in settings or len(seen) > _MOST_REFERENCES:
            yield line
        elif named[1].lower() not in seen:
            yield from _lines_of(named[1].lower(), settings, seen)


def setup_arguments(tree: Path) -> Mapping[str, Any]:
    """Return those arguments of `setup()` in setup.py that are literal values. Nothing is run.

    Names to which the file assigns a literal value count, too, also inside lists and tables. Computed values
    are left out.
    """
    try:
        module = parse_module(read_text(tree, "setup.py") or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    known: dict[str, Any] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = _plain(node.value, known)
            if value is not None:
                known[node.targets[0].id] = value
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and _is_setup(node.func)]
    values = {word.arg: _plain(word.value, known) for call in calls[:1] for word in call.keywords if word.arg}
    return {name: value for name, value in values.items() if value is not None}


def table(document: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return a nested table, or an empty one if it is missing."""
    for name in names:
        value = document.get(name)
        document = cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
    return document


def texts(value: object) -> list[str]:
    """Return the texts of a list, or the lines of a text. A backslash at a line's end continues the line."""
    if isinstance(value, str):
        joined = re.sub(r"\\[ \t]*\r?\n\s*", " ", value)
        return [line.strip() for line in joined.splitlines() if line.strip()]
    if not isinstance(value, list | tuple):
        return []
    return [each for each in cast("Sequence[object]", value) if isinstance(each, str)]


def _is_setup(function: ast.expr) -> bool:
    return (isinstance(function, ast.Name) and function.id == "setup") or (
        isinstance(function, ast.Attribute) and function.attr == "setup"
    )


def _plain(node: ast.expr, known: Mapping[str, Any], depth: int = 0) -> Any:
    """Return the value of a literal. Return None for a computed value, which lists and tables leave out."""
    inner = depth + 1
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.List | ast.Tuple):
        found = (_plain(each, known, inner) for each in node.elts)
        return [each for each in found if each is not None]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        given = {
            key.value: _plain(value, known, inner) for key, value in pairs if isinstance(key, ast.Constant)
        }
        return {key: value for key, value in given.items() if value is not None}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_plain(each, known, inner) for each in (node.left, node.right)]
        return sides[0] + sides[1] if all(isinstance(each, list) for each in sides) else None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
