"""Times in requests: ISO 8601 with an offset, and nothing else that a parser may accept as a time."""

from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator


def _no_number(value: object) -> object:
    """Refuse numbers, which would otherwise count as seconds since 1970.

    Raises:
        ValueError: the value is a number.
    """
    if isinstance(value, int | float) or (isinstance(value, str) and _is_number(value)):
        raise ValueError("write a time as ISO 8601 with an offset, such as 2026-01-31T12:00:00Z")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


Moment = Annotated[AwareDatetime, BeforeValidator(_no_number)]
"""A time with an offset."""
