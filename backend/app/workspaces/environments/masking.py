"""Hides secrets in what programs say."""

import base64
import json
from collections.abc import Collection, Iterable
from urllib.parse import quote

MASK = "***"


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets, also as JSON, URLs, XML and Base64 hold them."""
    for form in _forms(secrets):
        text = text.replace(form, MASK)
    return text


def mask_bytes(content: bytes, secrets: Iterable[str]) -> bytes:
    """Return bytes without these secrets."""
    for form in _forms(secrets):
        content = content.replace(form.encode(), MASK.encode())
    return content


def _forms(secrets: Iterable[str]) -> list[str]:
    """Return every way in which a secret is masked, the longest first: one may be a part of another."""
    found: set[str] = set()
    for secret in filter(None, secrets):
        found |= {secret, *_encoded(secret)}
        # Programs print lines; none of them holds the whole of a secret of several lines.
        found |= {line for line in secret.splitlines() if len(line) > _SHORT}
    return sorted(found, key=len, reverse=True)


_SHORT = 7


def _encoded(secret: str) -> Collection[str]:
    xml = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return (
        json.dumps(secret)[1:-1],
        quote(secret, safe=""),
        xml,
        base64.b64encode(secret.encode()).decode(),
    )
