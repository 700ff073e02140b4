"""Formats of notices: nothing that others wrote becomes markup, a link or a mention."""

import json
from email import message_from_bytes
from email.policy import default
from uuid import UUID

import pytest

from app.notifications.chats import FORMATS
from app.notifications.mail import message_of
from app.notifications.notice import Notice, NoticeEvidence, block_of, line_of

NOTICE = Notice(
    title="A person is asked: round up",
    reason="3 of 3 attempts failed",
    facts=[("Phase", "coding, attempt 3")],
    evidence=[NoticeEvidence("pytest", "failed", "1 of 2 tests failed")],
    page="https://p.example/escalations/1",
    accept="https://p.example/decide/a",
    reject="https://p.example/decide/r",
)
HOSTILE = Notice(
    title="<!channel> @everyone [x](https://evil.example)",
    reason="*bold* <https://evil.example|click> @here",
    evidence=[NoticeEvidence("pytest", "failed", "``` @everyone <!here>\n```")],
)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_notice_holds_evidence_and_links(kind: str) -> None:
    text = json.dumps(FORMATS[kind](NOTICE), ensure_ascii=False)
    for part in ("round up", "attempts failed", "coding, attempt 3", "pytest", "1 of 2 tests failed"):
        assert part in text.replace("\\\\", "")
    for address in (NOTICE.page, NOTICE.accept, NOTICE.reject):
        assert address is not None
        assert address in text


def test_slack_gets_no_mention_or_link() -> None:
    blocks = FORMATS["slack"](HOSTILE)["blocks"]
    marked = [each["text"]["text"] for each in blocks if each["text"]["type"] == "mrkdwn"]
    assert not any("<" in each or ">" in each for each in marked)
    assert all(each.count("```") in (0, 2) for each in marked)


def test_discord_mentions_no_one_and_its_fence_holds() -> None:
    body = FORMATS["discord"](HOSTILE)
    assert body["allowed_mentions"] == {"parse": []}
    assert body["embeds"][0]["fields"][0]["value"].count("```") == 2
    assert "https://" not in body["embeds"][0]["title"]


def test_teams_shows_text_as_it_is() -> None:
    card = FORMATS["teams"](HOSTILE)["attachments"][0]["content"]
    assert "[x](" not in card["body"][0]["text"]
    assert card["body"][2]["type"] == "RichTextBlock"


def test_a_title_cannot_add_headers_to_an_email() -> None:
    evil = Notice(title="hello\r\nBcc: eve@evil.example", reason="x")
    message = message_of(evil, sender="bot@p.example", to=["ada@p.example"], message_id=UUID(int=1))
    read = message_from_bytes(message.as_bytes(), policy=default)
    assert read["Bcc"] is None
    assert read["Subject"] == "hello Bcc: eve@evil.example"
    assert read["Message-ID"] == f"<{UUID(int=1)}@p.example>"


def test_text_of_others_is_bounded_and_printable() -> None:
    assert line_of("a\x1b[31m\nb\u202ec", 50) == "a [31m b c"
    assert block_of("x\ny" * 500, 10) == "x\nyx\nyx\ny…"
