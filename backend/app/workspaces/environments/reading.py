"""Reads the files in which a project declares its needs: regular files in its tree, of bounded size."""

import codecs
import configparser
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

MAX_BYTES = 20_000_000
_MOST_REFERRED = 100_000
"""Characters that the references of a file may bring. Otherwise they could fill the memory."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_REFERENCE = re.compile(r"\s*%\(([^()]+)\)s\s*")


class DeclarationError(Exception):
    """A project's declared needs cannot be read. The message names the file."""


def read_text(tree: Path, name: str) -> str | None:
    """Return a file's text, or None if the tree has no such file.

    A link that leads out of the tree counts as missing, because its target must not get into error messages.

    Raises:
        DeclarationError: the file is too large, neither UTF-8 nor UTF-16, or cannot be read.
    """
    path = tree / name
    try:
        if not path.is_file() or not path.resolve().is_relative_to(tree.resolve()):
            return None
        if path.stat().st_size > MAX_BYTES:
            raise DeclarationError(f"{name} is larger than {MAX_BYTES} bytes")
        data = path.read_bytes()
        # PowerShell writes UTF-16 if its output goes into a file, as with `pip freeze > requirements.txt`.
        text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
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
    return ini_sections(read_text(tree, name) or "", name)


def ini_sections(text: str, name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of a text in INI format; `name` is the file in which it is. See `read_ini`.

    Raises:
        DeclarationError: it cannot be read.
    """
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise DeclarationError(f"{name} cannot be read: {error.message}") from error
    sections = {section: dict(parser.items(section)) for section in parser.sections()}
    room = _MOST_REFERRED
    for settings in sections.values():
        written = dict(settings)
        for key in written:
            settings[key], room = _resolved(key, written, room)
    return sections


def _resolved(key: str, settings: Mapping[str, str], room: int) -> tuple[str, int]:
    """Return a setting with each of those that it refers to once, and the characters left of `room`.

    A reference for which there is no room stays as it is.
    """
    found: list[str] = []
    seen = {key}
    left = settings[key].split("\n")[::-1]
    while left:
        line = left.pop()
        named = _REFERENCE.fullmatch(line)
        other = "" if named is None else named[1].lower()
        if other not in settings or len(settings[other]) > room:
            found.append(line)
        elif other not in seen:
            seen.add(other)
            room -= len(settings[other])
            left += settings[other].split("\n")[::-1]
    return "\n".join(found), room


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
