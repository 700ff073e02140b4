"""Makes expectations in data files wrong: JSON, CSV, TOML, and texts as a whole."""

import csv
import io
import json
import re
import string
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from random import Random
from typing import Any, cast

from app.runners.evaluators.testing.counter_tests.sites import DataPlace
from app.runners.evaluators.testing.layout.trees import RunTree

_TABLES = {".csv": ",", ".tsv": "\t"}
_KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_MOST_BYTES = 1_000_000
_MOST_FILES = 200
_TRIES = 5


class _SameError(ValueError):
    """A value cannot be changed in a way that honest code is certain to notice."""


def read_data_files(tree: RunTree) -> dict[str, bytes]:
    """Read the tests' files that are not Python, and that the candidate did not write."""
    found: dict[str, bytes] = {}
    for name in sorted(tree.trusted):
        path = tree.files[name] / name if name in tree.files else None
        if path is None or name.endswith(".py") or len(found) >= _MOST_FILES:
            continue
        try:
            if not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
                found[name] = path.read_bytes()
        except OSError:
            continue
    return found


def wrong_data(
    files: Mapping[str, bytes], place: DataPlace, chance: Random, tried: Collection[Mapping[str, bytes]]
) -> dict[str, bytes]:
    """Return the files that hold an expectation, with other values. Return none if that is not certain.

    Args:
        files: the data files of the tests.
        place: the expectation.
        chance: decides.
        tried: the earlier versions.
    """
    for _ in range(_TRIES):
        found: dict[str, bytes] = {}
        for name, content in files.items():
            try:
                text = _rewritten(name, content, place, chance)
            except (ValueError, RecursionError, OverflowError, csv.Error):
                # A test may only look at the row that would stay unchanged.
                return {}
            if text is not None:
                found[name] = text
        if all(found != each for each in tried):
            return found
    return {}


def _rewritten(name: str, content: bytes, place: DataPlace, chance: Random) -> bytes | None:
    """Return a file with other values, or None if it does not hold the expectation."""
    path = PurePosixPath(name)
    if place.file:
        return _misspelt(content.decode(), chance).encode() if path.name == place.file else None
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _json(content.decode(), place, chance)
    if suffix == ".jsonl":
        lines = [_json(line, place, chance) for line in content.decode().splitlines() if line.strip()]
        known = [each for each in lines if each is not None]
        return b"\n".join(known) + b"\n" if known and len(known) == len(lines) else None
    if suffix in _TABLES:
        return _table(content.decode(), _TABLES[suffix], place, chance)
    return _toml(content.decode(), place, chance) if suffix == ".toml" and place.key else None


def _json(text: str, place: DataPlace, chance: Random) -> bytes | None:
    document = json.loads(text)
    changed = _changed(document, place, chance)
    return None if changed == document else json.dumps(changed, ensure_ascii=False).encode()


def _changed(value: Any, place: DataPlace, chance: Random) -> Any:
    match value:
        case dict():
            return {
                key: _other(each, chance) if place.key and key == place.key else _changed(each, place, chance)
                for key, each in cast("dict[str, Any]", value).items()
            }
        case list():
            items = cast("list[Any]", value)
            if not place.key and items and all(_is_row(each, place.width) for each in items):
                return [_with_other(each, place.column, chance) for each in items]
            return [_changed(each, place, chance) for each in items]
        case _:
            return value


def _is_row(value: Any, width: int) -> bool:
    return isinstance(value, list) and len(cast("list[Any]", value)) == width


def _with_other(row: Sequence[Any], column: int, chance: Random) -> list[Any]:
    return [_other(each, chance) if place == column else each for place, each in enumerate(row)]


def _other(value: Any, chance: Random) -> Any:
    """Return another value of the same kind.

    Raises:
        _SameError: no value is certain to be treated as another one.
    """
    match value:
        case bool():
            return not value
        case int():
            return value + chance.randrange(1, 10)
        case float():
            return value * 1.5 + chance.randrange(1, 10)
        case str():
            return _misspelt(value, chance)
        case list():
            first, *rest = cast("list[Any]", value) or [None]
            return [_other(first, chance), *rest]
        case dict():
            known = cast("dict[str, Any]", value)
            first = next(iter(known), None)
            return {key: _other(each, chance) if key == first else each for key, each in _full(known).items()}
        case _:
            raise _SameError(repr(value)[:80])


def _full(known: dict[str, Any]) -> dict[str, Any]:
    if not known:
        raise _SameError("an empty object")
    return known


def _misspelt(text: str, chance: Random) -> str:
    """Change one letter or digit into another of its kind.

    Raises:
        _SameError: there is none.
    """
    places = [place for place, each in enumerate(text) if any(each in kind for kind in _KINDS)]
    if not places:
        raise _SameError(text[:80])
    place = chance.choice(places)
    kind = next(each for each in _KINDS if text[place] in each)
    other = chance.choice([each for each in kind if each != text[place]])
    return text[:place] + other + text[place + 1 :]


def _table(text: str, delimiter: str, place: DataPlace, chance: Random) -> bytes | None:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    if not rows:
        return None
    if place.key:
        if rows[0].count(place.key) != 1:
            return None
        column, head = rows[0].index(place.key), 1
    else:
        if any(len(each) != place.width for each in rows if each):
            return None
        column, head = place.column, 0
    body = [_with_other(each, column, chance) if each else each for each in rows[head:]]
    if not any(body) or any(each and len(each) <= column for each in body):
        return None
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows([*rows[:head], *body])
    return written.getvalue().encode()


def _toml(text: str, place: DataPlace, chance: Random) -> bytes | None:
    pattern = re.compile(rf"^([ \t]*{re.escape(place.key)}[ \t]*=[ \t]*)(.+)$", re.MULTILINE)

    def changed(found: re.Match[str]) -> str:
        value = tomllib.loads(f"value = {found[2]}")["value"]
        return found[1] + json.dumps(_other(value, chance))

    written, count = pattern.subn(changed, text)
    if not count:
        return None
    before, after = tomllib.loads(text), tomllib.loads(written)
    if _values(before, place.key) != count or _values(after, place.key) != count:
        raise _SameError(place.key)
    return written.encode()


def _values(value: Any, key: str) -> int:
    """Count the values of a key, wherever it occurs."""
    match value:
        case dict():
            known = cast("dict[str, Any]", value)
            return (key in known) + sum(_values(each, key) for each in known.values())
        case list():
            return sum(_values(each, key) for each in cast("list[Any]", value))
        case _:
            return 0
