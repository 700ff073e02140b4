"""Formats notices as e-mail, in plain text."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from uuid import UUID

from app.notifications.notice import MAX_TITLE_CHARS, Notice, line_of


def message_of(notice: Notice, *, sender: str, to: Sequence[str], message_id: UUID) -> EmailMessage:
    """Return the e-mail of a notice; it has the same `Message-ID` each time it is sent."""
    message = EmailMessage(SMTP)
    message["Subject"] = line_of(notice.title, MAX_TITLE_CHARS)
    message["From"] = _address(sender, "PhaseRunner")
    message["To"] = [_address(each) for each in to]
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = f"<{message_id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text_of(notice))
    return message


def text_of(notice: Notice) -> str:
    """Return a notice as plain text."""
    parts = [notice.title, "", notice.reason]
    if notice.facts:
        parts += ["", *(f"{name}: {value}" for name, value in notice.facts)]
    for each in notice.evidence:
        parts += [
            "",
            f"{each.evaluator}: {each.verdict}",
            *(f"  {line}" for line in each.excerpt.splitlines()),
        ]
    if notice.links:
        parts += ["", *(f"{label} {address}" for label, address in notice.links)]
    return "\n".join(parts) + "\n"


def _address(mailbox: str, name: str = "") -> Address:
    user, _, domain = mailbox.rpartition("@")
    return Address(name, user, domain)
