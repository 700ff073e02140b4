"""Signs messages as standardwebhooks.com describes, so that receivers can check them with its libraries."""

import base64
import binascii
import hashlib
import hmac
from datetime import datetime

from app.core.errors import InvalidInputError

PREFIX = "whsec_"
MIN_SECRET_BYTES = 24

_FIELD = "WEBHOOK_SECRET"
_HOW = (
    'make one with: python -c "import base64, secrets; '
    "print('whsec_' + base64.b64encode(secrets.token_bytes(32)).decode())\""
)


def read_secret(text: str) -> bytes:
    """Give the key of a secret, which is `whsec_` and base64.

    Raises:
        InvalidInputError: it is not one, or shorter than 24 bytes.
    """
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(f"is not {PREFIX} and base64; {_HOW}", field=_FIELD) from error
    if len(key) < MIN_SECRET_BYTES:
        raise InvalidInputError(f"holds less than {MIN_SECRET_BYTES} bytes; {_HOW}", field=_FIELD)
    return key


def signed_headers(key: bytes, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """The headers that name and sign a message: HMAC-SHA256 over id, time in seconds and body."""
    timestamp = str(int(at.timestamp()))
    signed = b".".join([message_id.encode(), timestamp.encode(), body])
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature}",
    }
