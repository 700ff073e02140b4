"""Cursors for lists: the sort key and the id of the last row of a page."""

import base64
import binascii
from datetime import UTC, datetime
from uuid import UUID

from app.core.errors import InvalidInputError


def encode_cursor(created_at: datetime, row_id: UUID) -> str:
    """Encode the last row of a page as an opaque cursor."""
    return base64.urlsafe_b64encode(f"{created_at.isoformat()}|{row_id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[datetime, UUID]:
    """Decode a cursor into creation time and row id.

    Raises:
        InvalidInputError: the cursor is invalid.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        created_at, _, row_id = text.partition("|")
        return datetime.fromisoformat(created_at).astimezone(UTC), UUID(row_id)
    except (ValueError, OverflowError, binascii.Error) as error:
        raise InvalidInputError("use the next_cursor of a previous page", field="cursor") from error


def encode_sorted_cursor(order: str, value: datetime | float, row_id: UUID) -> str:
    """Encode the last row of a page in a list sorted by `order`."""
    text = value.isoformat() if isinstance(value, datetime) else repr(float(value))
    return base64.urlsafe_b64encode(f"{order}|{text}|{row_id}".encode()).decode().rstrip("=")


def decode_sorted_cursor(order: str, cursor: str) -> tuple[datetime | float, UUID]:
    """Decode a cursor of a list sorted by `order` into sort key and row id.

    Raises:
        InvalidInputError: the cursor is invalid, or belongs to a list in another order.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        given, value, row_id = text.split("|")
        if given != order:
            raise InvalidInputError(f"it belongs to a list sorted by {given!r}", field="cursor")
        at = datetime.fromisoformat(value).astimezone(UTC) if "T" in value else float(value)
        return at, UUID(row_id)
    except (ValueError, OverflowError, binascii.Error) as error:
        raise InvalidInputError("use the next_cursor of a previous page", field="cursor") from error
