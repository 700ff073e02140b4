"""Arithmetic of limits, where None is no limit."""

from typing import TypeVar

Number = TypeVar("Number", int, float)


def min_of(one: Number | None, other: Number | None) -> Number | None:
    """The stricter of two limits."""
    given = [each for each in (one, other) if each is not None]
    return min(given) if given else None
