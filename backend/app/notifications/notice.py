"""The content of a notification, before it is formatted for its receiver."""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_EVIDENCE = 5
MAX_EXCERPT_CHARS = 400
MAX_REASON_CHARS = 600
MAX_TITLE_CHARS = 150


@dataclass(frozen=True, slots=True)
class NoticeEvidence:
    """The finding of one evaluator. `excerpt` is untrusted text."""

    evaluator: str
    verdict: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One notification.

    Attributes:
        title: one line.
        reason: why it is sent, in a sentence or two.
        facts: names and values, such as the phase.
        evidence: the findings that failed.
        page: address of the run's page.
        accept: address of a page that accepts the escalation.
        reject: address of a page that rejects it.
    """

    title: str
    reason: str
    facts: Sequence[tuple[str, str]] = ()
    evidence: Sequence[NoticeEvidence] = ()
    page: str | None = None
    accept: str | None = None
    reject: str | None = None

    @property
    def links(self) -> list[tuple[str, str]]:
        """Return labels and addresses in display order."""
        given = (("Open the run", self.page), ("Accept…", self.accept), ("Reject…", self.reject))
        return [(label, address) for label, address in given if address is not None]


def line_of(text: str, limit: int) -> str:
    """Return untrusted text as one printable line of at most `limit` characters."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return shortened(" ".join(line.split()), limit)


def block_of(text: str, limit: int) -> str:
    """Return untrusted text as printable lines of at most `limit` characters in total."""
    lines = ("".join(c if c.isprintable() else " " for c in line).rstrip() for line in text.splitlines())
    return shortened("\n".join(lines).strip(), limit)


def shortened(text: str, limit: int) -> str:
    """Cut text at `limit` characters, and mark the cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
