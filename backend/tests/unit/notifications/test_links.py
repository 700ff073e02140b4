"""Links that decide: signed, bound to version and role, and expiring."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from app.core.security import Role
from app.notifications.links import BadLinkError, DecisionLink, read_link, sign_link
from app.schemas.runs import EscalationDecision

SECRET = "a secret of enough characters"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINK = DecisionLink(
    escalation_id=uuid4(),
    version=3,
    decision=EscalationDecision.ACCEPT,
    role=Role.REVIEWER,
    receiver="team",
    expires_at=NOW + timedelta(hours=1),
)


def test_a_link_says_what_was_signed() -> None:
    assert read_link(sign_link(LINK, SECRET), SECRET, NOW) == LINK


def test_an_expired_link_is_refused() -> None:
    with pytest.raises(BadLinkError, match="expired at 2026-03-01 13:00 UTC"):
        read_link(sign_link(LINK, SECRET), SECRET, LINK.expires_at)


def test_the_content_of_another_link_does_not_fit_the_signature() -> None:
    higher = replace(LINK, version=4, role=Role.ADMIN)
    content = sign_link(higher, SECRET).partition(".")[0]
    signature = sign_link(LINK, SECRET).partition(".")[2]
    with pytest.raises(BadLinkError, match="not made by this service"):
        read_link(f"{content}.{signature}", SECRET, NOW)


@pytest.mark.parametrize("token", ["", ".", "a.b", "é.ü", "A" * 5_000, "bnVsbA.bnVsbA"])
def test_what_is_no_link_is_refused(token: str) -> None:
    with pytest.raises(BadLinkError):
        read_link(token, SECRET, NOW)


def test_another_secret_makes_links_useless() -> None:
    with pytest.raises(BadLinkError):
        read_link(sign_link(LINK, SECRET), SECRET[::-1], NOW)


def test_a_short_secret_signs_nothing() -> None:
    with pytest.raises(ValueError, match="fewer than 24"):
        sign_link(LINK, "short")
    with pytest.raises(BadLinkError):
        read_link(sign_link(LINK, SECRET), "", NOW)
