"""Times in requests: ISO 8601 with an offset, and nothing else that a parser may accept as a time."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator


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


def _in_utc(value: datetime) -> datetime:
    """Return the same moment in UTC.

    Raises:
        ValueError: in UTC, its year is before 1 or after 9999.
    """
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be between the years 1 and 9999 in UTC") from None


Moment = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(_in_utc)]
"""A time with an offset, in UTC."""
