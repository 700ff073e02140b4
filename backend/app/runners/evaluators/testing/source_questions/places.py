"""Sorts findings in a source by what they are. Pure."""

from collections.abc import Iterable


def by_name(found: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return the lines of each finding, in order and each once."""
    places: dict[str, list[int]] = {}
    for name, line in sorted(set(found), key=lambda each: each[1]):
        places.setdefault(name, []).append(line)
    return places
