"""Checks the signatures of GitHub's deliveries."""

import hashlib
import hmac

HEADER = "X-Hub-Signature-256"
_PREFIX = "sha256="


def is_signed(secret: str, body: bytes | bytearray, signature: str) -> bool:
    """Return whether `signature`, the header's value, was made from `body` with `secret`."""
    if not secret or not signature.startswith(_PREFIX):
        return False
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.removeprefix(_PREFIX).encode())
