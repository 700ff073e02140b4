"""Signs messages as standardwebhooks.com specifies, with the library with which receivers verify them."""

import base64
import binascii
from datetime import UTC, datetime

from standardwebhooks.webhooks import Webhook

from app.core.errors import InvalidInputError

PREFIX = "whsec_"
MIN_SECRET_BYTES = 24

_FIELD = "WEBHOOK_SECRET"
_HOW = (
    'make one with: python -c "import base64, secrets; '
    "print('whsec_' + base64.b64encode(secrets.token_bytes(32)).decode())\""
)


def read_secret(text: str) -> bytes:
    """Return the key of a secret, which is `whsec_` and base64.

    Raises:
        InvalidInputError: the secret does not have this form, or is shorter than 24 bytes.
    """
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(f"must be {PREFIX} and base64; {_HOW}", field=_FIELD) from error
    if len(key) < MIN_SECRET_BYTES:
        raise InvalidInputError(f"must hold at least {MIN_SECRET_BYTES} bytes; {_HOW}", field=_FIELD)
    return key


def signed_headers(key: bytes, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign a message; `body` is UTF-8 and `at` has a time zone."""
    # The library takes every time for UTC, whatever its zone.
    at = at.astimezone(UTC)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(key).sign(message_id, at, body.decode()),
    }
