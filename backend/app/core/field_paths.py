"""Names the field of an input that a validation error is about."""

from collections.abc import Sequence
from typing import cast


def field_path(location: Sequence[int | str], body: object, *, is_missing: bool = False) -> str:
    """Return the path of a field as the client knows it.

    The path omits the first part of a location (body, query, path), and the tags of union members, which are
    not in the body.
    """
    place, *parts = location
    if place != "body":
        return ".".join(str(part) for part in parts)
    names: list[str] = []
    here = body
    for index, part in enumerate(parts):
        is_last = index + 1 == len(parts)
        if not _may_hold(here, part) and not (is_missing and is_last):
            continue
        names.append(str(part))
        here = _inside(here, part)
    return ".".join(names) or "body"


def _may_hold(value: object, part: int | str) -> bool:
    if isinstance(value, dict):
        return part in cast("dict[object, object]", value)
    # A part that is not a key of a list or plain value is the tag of a union's member.
    return value is None or (isinstance(value, list) and isinstance(part, int))


def _inside(value: object, part: int | str) -> object:
    if isinstance(value, dict):
        return cast("dict[object, object]", value).get(part)
    if isinstance(value, list) and isinstance(part, int):
        items = cast("list[object]", value)
        return items[part] if part < len(items) else None
    return None
