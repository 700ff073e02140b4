"""Formats notices for the incoming webhooks of Slack, Teams and Discord.

Untrusted text must not become markup, links or mentions in any of them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from app.notifications.notice import Notice, NoticeEvidence, shortened

Format = Callable[[Notice], dict[str, Any]]

_SLACK_BLOCK_CHARS = 2_900
_SLACK_HEADER_CHARS = 150
_DISCORD_FIELD_CHARS = 1_000
_DISCORD_TITLE_CHARS = 250


def slack(notice: Notice) -> dict[str, Any]:
    """Return the body for Slack: blocks, and the plain text that its notifications show."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(shortened(notice.title, _SLACK_HEADER_CHARS))},
        _slack_section(_slack_escaped(notice.reason)),
    ]
    if notice.facts:
        facts = "\n".join(f"*{name}*: {_slack_escaped(value)}" for name, value in notice.facts)
        blocks.append(_slack_section(facts))
    blocks += [_slack_section(_slack_evidence(each)) for each in notice.evidence]
    if notice.links:
        buttons = [{"type": "button", "text": _plain(label), "url": url} for label, url in notice.links]
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": _slack_escaped(notice.title), "blocks": blocks, "unfurl_links": False}


def teams(notice: Notice) -> dict[str, Any]:
    """Return the body for a Teams workflow: one adaptive card."""
    body: list[dict[str, Any]] = [
        {
            "type": "TextBlock",
            "text": _markdown(notice.title),
            "weight": "Bolder",
            "size": "Medium",
            "wrap": True,
        },
        {"type": "TextBlock", "text": _markdown(notice.reason), "wrap": True},
    ]
    if notice.facts:
        facts = [{"title": name, "value": _markdown(value)} for name, value in notice.facts]
        body.append({"type": "FactSet", "facts": facts})
    for each in notice.evidence:
        found = {"type": "TextRun", "text": f"{each.evaluator}: {each.verdict}\n", "weight": "Bolder"}
        # Teams shows a text run as it is, but reads a text block as Markdown.
        body.append({"type": "RichTextBlock", "inlines": [found, {"type": "TextRun", "text": each.excerpt}]})
    actions = [{"type": "Action.OpenUrl", "title": label, "url": url} for label, url in notice.links]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": actions,
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [content]}


def discord(notice: Notice) -> dict[str, Any]:
    """Return the body for Discord: one embed that mentions no one."""
    fields = [
        {"name": name, "value": _markdown(value) or "-", "inline": True} for name, value in notice.facts
    ]
    fields += [
        {"name": f"{each.evaluator}: {each.verdict}"[:_DISCORD_TITLE_CHARS], "value": _fenced(each.excerpt)}
        for each in notice.evidence
    ]
    if links := " · ".join(f"[{label}]({url})" for label, url in notice.links):
        fields.append({"name": "Links", "value": links})
    embed = {
        "title": shortened(_markdown(notice.title), _DISCORD_TITLE_CHARS),
        "description": _markdown(notice.reason),
        "fields": fields,
    }
    return {"embeds": [embed], "allowed_mentions": {"parse": []}}


FORMATS: Mapping[str, Format] = {"slack": slack, "teams": teams, "discord": discord}
"""Formats by kind of receiver."""


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _slack_section(text: str) -> dict[str, Any]:
    section = {"type": "mrkdwn", "text": shortened(text, _SLACK_BLOCK_CHARS), "verbatim": True}
    return {"type": "section", "text": section}


def _slack_evidence(found: NoticeEvidence) -> str:
    head = f"*{_slack_escaped(found.evaluator)}*: {_slack_escaped(found.verdict)}"
    excerpt = _slack_escaped(found.excerpt.replace("`", "ˋ"))  # noqa: RUF001 - backquotes would end the code
    return f"{head}\n```{excerpt}```" if excerpt else head


def _slack_escaped(text: str) -> str:
    # Slack recognises links and mentions only between angle brackets.
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([*_~`])", "\u200b\\1", text)


def _markdown(text: str) -> str:
    escaped = re.sub(r"([\\`*_{}\[\]()#|~>+!-])", r"\\\1", text)
    # A bare address would become a link, and an at sign a mention.
    return escaped.replace("://", ":\u200b//").replace("@", "@\u200b").replace("<", "&lt;")


def _fenced(text: str) -> str:
    inner = shortened(text.replace("`", "ˋ"), _DISCORD_FIELD_CHARS - 8)  # noqa: RUF001 - as for Slack
    return f"```\n{inner}\n```" if inner else "-"
