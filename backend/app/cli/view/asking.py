"""What to tell a user whose sprint waits for a human: the exact commands that answer it."""

import json
import shlex
from uuid import UUID

from app.cli.view.text import first_lines

_KEY_HINT = (
    "The agent has no model to work with. Where the server runs, set ANTHROPIC_API_KEY or OPENAI_API_KEY",
    "(and AGENT_MODEL for a model of your own), restart it, and then resolve with --retry.",
)


def how_to_resolve(
    escalation_id: UUID, reason_kind: str, reason: str, url: str, *, with_token: bool = False
) -> list[str]:
    """The lines that explain a question and how to answer it, by command and by curl."""
    short = str(escalation_id)[:8]
    guidance = '--guidance "what to do differently"'
    lines = ["", "A human is asked:", *(f"    {line}" for line in first_lines(reason, 6))]
    if reason_kind == "agent_unavailable":
        lines += [f"    {line}" for line in _KEY_HINT]
    lines += [
        "",
        "    phaserunner escalations show " + short,
        f"    phaserunner escalations resolve {short} --retry {guidance} --attempts 1",
        f"    phaserunner escalations resolve {short} --accept    (or --reject)",
        "",
        "The same with curl:",
        "    " + curl(escalation_id, url, with_token=with_token),
        "",
    ]
    return lines


def curl(escalation_id: UUID, url: str, *, with_token: bool = False) -> str:
    """The curl command that resolves an escalation with a retry."""
    body = json.dumps({"decision": "retry", "guidance": "what to do differently", "additional_attempts": 1})
    address = shlex.quote(f"{url}/api/v1/escalations/{escalation_id}/resolve")
    login = ' -H "Authorization: Bearer $PHASERUNNER_TOKEN"' if with_token else ""
    return f"curl -s -X POST {address}{login} -H 'Content-Type: application/json' -d '{body}'"
