"""Signed links that accept or reject one escalation.

A link holds the escalation and its version, the decision, the role, the expiry and the receiver. A decision
ends the escalation, so a second link for the same version has no effect.
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from app.core.errors import ForbiddenError
from app.core.security import Role
from app.schemas.runs import EscalationDecision

MIN_SECRET_CHARS = 24
MAX_TOKEN_CHARS = 1_000

_PURPOSE = b"phaserunner decision link 1\n"


class BadLinkError(ForbiddenError):
    """A link was not signed here, or can no longer be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLink:
    """What a link allows.

    Attributes:
        escalation_id: the escalation.
        version: the escalation's version that the receiver saw.
        decision: accept or reject.
        role: the role with which the link decides.
        receiver: the name of the receiver that got the link.
        expires_at: when the link expires.
    """

    escalation_id: UUID
    version: int
    decision: EscalationDecision
    role: Role
    receiver: str
    expires_at: datetime


def sign_link(link: DecisionLink, secret: str) -> str:
    """Return the token of a link, which is one part of a URL's path.

    Raises:
        ValueError: the secret is too short.
    """
    if len(secret) < MIN_SECRET_CHARS:
        raise ValueError(f"the secret of links has fewer than {MIN_SECRET_CHARS} characters")
    members = [
        str(link.escalation_id),
        link.version,
        link.decision.value,
        link.role.value,
        link.receiver,
        int(link.expires_at.timestamp()),
    ]
    content = json.dumps(members, separators=(",", ":")).encode()
    return f"{_text(content)}.{_text(_signature(content, secret))}"


def read_link(token: str, secret: str, now: datetime) -> DecisionLink:
    """Return what a token allows.

    Raises:
        BadLinkError: it was not signed with this secret, or has expired.
    """
    content, _, signature = token.partition(".") if len(token) <= MAX_TOKEN_CHARS else ("", "", "")
    try:
        signed, given = _bytes(content), _bytes(signature)
    except (binascii.Error, ValueError) as error:
        raise BadLinkError("this link is damaged; open the run's page instead") from error
    if len(secret) < MIN_SECRET_CHARS or not hmac.compare_digest(given, _signature(signed, secret)):
        raise BadLinkError("this link was not made by this service; open the run's page instead")
    link = _read(json.loads(signed))
    if link.expires_at <= now:
        raise BadLinkError(
            f"this link expired at {link.expires_at:%Y-%m-%d %H:%M} UTC; open the run's page instead"
        )
    return link


def _read(members: object) -> DecisionLink:
    # The token was signed here, so it has this form.
    escalation, version, decision, role, receiver, expires = cast("list[Any]", members)
    return DecisionLink(
        escalation_id=UUID(escalation),
        version=version,
        decision=EscalationDecision(decision),
        role=Role(role),
        receiver=receiver,
        expires_at=datetime.fromtimestamp(expires, UTC),
    )


def _signature(content: bytes, secret: str) -> bytes:
    return hmac.new(secret.encode(), _PURPOSE + content, hashlib.sha256).digest()


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
