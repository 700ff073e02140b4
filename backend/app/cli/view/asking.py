"""Tells a user how to resolve an escalation: the exact commands."""

import json
import shlex
from collections.abc import Mapping
from uuid import UUID

from app.cli.view.text import first_lines

_GUIDANCE = "what to do differently"
_KEY_HINT = (
    "If the agent has no model: on the server, set ANTHROPIC_API_KEY or OPENAI_API_KEY",
    "(and AGENT_MODEL for your own model), restart it, and resolve with --retry.",
    "Or start again with --agent NAME (`phaserunner agents` shows which are ready) or --example teatime.",
)


def how_to_resolve(
    escalation_id: UUID, reason_kind: str, reason: str, url: str, *, with_token: bool = False
) -> list[str]:
    """The lines that explain a question and how to answer it, by command and by curl."""
    resolve = f"    phaserunner escalations resolve {str(escalation_id)[:8]}"
    lines = ["", "A person is asked:", *(f"    {line}" for line in first_lines(reason, 6))]
    if reason_kind == "agent_unavailable":
        # There is no output to accept, and nothing to tell the agent.
        lines += [*(f"    {line}" for line in _KEY_HINT), "", f"{resolve} --retry    (or --reject)"]
        body: dict[str, object] = {"decision": "retry"}
    else:
        lines += ["", f"    phaserunner escalations show {str(escalation_id)[:8]}"]
        lines += [f'{resolve} --retry --guidance "{_GUIDANCE}" --attempts 1']
        lines += [f"{resolve} --accept    (or --reject)"]
        body = {"decision": "retry", "guidance": _GUIDANCE, "additional_attempts": 1}
    command = curl(escalation_id, url, body, with_token=with_token)
    return [*lines, "", "The same with curl:", f"    {command}", ""]


def curl(escalation_id: UUID, url: str, answer: Mapping[str, object], *, with_token: bool = False) -> str:
    """The curl command that resolves an escalation."""
    body = json.dumps(answer)
    address = shlex.quote(f"{url}/api/v1/escalations/{escalation_id}/resolve")
    login = ' -H "Authorization: Bearer $PHASERUNNER_TOKEN"' if with_token else ""
    return f"curl -s -X POST {address}{login} -H 'Content-Type: application/json' -d '{body}'"
