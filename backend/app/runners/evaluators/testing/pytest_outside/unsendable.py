"""Represents a value of the candidate that is nested too deep or too large to send."""

from __future__ import annotations

from typing import Any

from .link import refuse
from .values import SCALARS


class Unsendable:
    """A value that equals no plain value. A test that uses it in any other way cannot be carried."""

    def __eq__(self, other: object) -> bool:
        if type(other) in SCALARS:
            return False
        raise refuse("a value is nested too deep or too large to send")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getattr__(self, name: str) -> Any:
        raise refuse("a value is nested too deep or too large to send")

    def __bool__(self) -> bool:
        raise refuse("a value is nested too deep or too large to send")
