"""Cursors for lists that are ordered by time of creation."""

import base64
import binascii
from datetime import UTC, datetime
from uuid import UUID

from app.core.errors import InvalidInputError


def encode_cursor(created_at: datetime, row_id: UUID) -> str:
    """Name the last row of a page; clients pass it on without looking into it."""
    return base64.urlsafe_b64encode(f"{created_at.isoformat()}|{row_id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[datetime, UUID]:
    """Read a cursor back.

    Raises:
        InvalidInputError: it is not one of ours.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        created_at, _, row_id = text.partition("|")
        return datetime.fromisoformat(created_at).astimezone(UTC), UUID(row_id)
    except (ValueError, OverflowError, binascii.Error) as error:
        raise InvalidInputError("use the next_cursor of a page before", field="cursor") from error
