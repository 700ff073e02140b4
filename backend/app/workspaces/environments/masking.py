"""Masks secrets in the output of programs."""

import base64
import json
from collections.abc import Collection, Iterable
from urllib.parse import quote

MASK = "***"


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return the text with these secrets masked, also in their JSON, URL, XML and Base64 forms."""
    for form in _forms(secrets):
        text = text.replace(form, MASK)
    return text


def mask_bytes(content: bytes, secrets: Iterable[str]) -> bytes:
    """Return the bytes with these secrets masked."""
    for form in _forms(secrets):
        content = content.replace(form.encode(), MASK.encode())
    return content


def _forms(secrets: Iterable[str]) -> list[str]:
    """Return every form in which a secret is masked, longest first, because one may be part of another."""
    found: set[str] = set()
    for secret in filter(None, secrets):
        found |= {secret, *_encoded(secret)}
        # Programs print line by line, so no line holds the whole of a secret with several lines.
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
