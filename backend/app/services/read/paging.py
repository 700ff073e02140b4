"""Cursors for lists: the sort key and the id of the last row of a page."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from app.core.errors import InvalidInputError


def encode_cursor(created_at: datetime, row_id: UUID) -> str:
    """Encode the last row of a page as an opaque cursor."""
    return _encode(created_at.isoformat(), str(row_id))


def decode_cursor(cursor: str) -> tuple[datetime, UUID]:
    """Decode a cursor into creation time and row id.

    Raises:
        InvalidInputError: the cursor is invalid.
    """
    try:
        created_at, row_id = _decode(cursor)
        return _moment(created_at), UUID(row_id)
    except (ValueError, OverflowError) as error:
        raise _invalid() from error


def encode_sorted_cursor(order: str, value: datetime | float, row_id: UUID) -> str:
    """Encode the last row of a page in a list sorted by `order`."""
    text = value.isoformat() if isinstance(value, datetime) else repr(float(value))
    return _encode(order, text, str(row_id))


def decode_sorted_cursor(order: str, cursor: str, *, by_time: bool) -> tuple[datetime | float, UUID]:
    """Decode a cursor of a list sorted by `order` into sort key and row id.

    Args:
        order: the order of the list.
        cursor: the cursor.
        by_time: whether the sort key is a time; otherwise it is a number.

    Raises:
        InvalidInputError: the cursor is invalid, or belongs to a list in another order.
    """
    read: Callable[[str], datetime | float] = _moment if by_time else float
    try:
        given, value, row_id = _decode(cursor)
        if given == order:
            return read(value), UUID(row_id)
    except (ValueError, OverflowError) as error:
        raise _invalid() from error
    raise InvalidInputError(f"it belongs to a list sorted by {given!r}", field="cursor")


def _encode(*parts: str) -> str:
    return base64.urlsafe_b64encode("|".join(parts).encode()).decode().rstrip("=")


def _decode(cursor: str) -> list[str]:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split("|")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _invalid() -> InvalidInputError:
    return InvalidInputError("use the next_cursor of a previous page", field="cursor")
