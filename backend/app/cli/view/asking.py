"""Explains how to resolve an escalation, with the exact commands."""

import json
import shlex
from collections.abc import Mapping
from uuid import UUID

from app.cli.view.text import first_lines
from app.schemas.questions import ASKED

_GUIDANCE = "what to do differently"
_UNAVAILABLE_HINT = (
    "The server reads its settings when it starts: restart it after a change, then resolve with --retry.",
    "Or start anew with --agent NAME; `phaserunner agents` shows which are ready.",
)
_BUDGETS = ("budget_exhausted", "day_budget_exhausted")


def question(escalation_id: UUID, reason: str) -> list[str]:
    """Return the lines that tell why a person is asked, and where to see more."""
    return [
        "",
        ASKED.rstrip(),
        *(f"    {line}" for line in first_lines(reason.removeprefix(ASKED), 6)),
        "",
        f"    phaserunner escalations show {str(escalation_id)[:8]}",
    ]


def how_to_resolve(
    escalation_id: UUID, reason_kind: str, url: str, *, red_tests: bool = False, with_token: bool = False
) -> list[str]:
    """Return the commands that resolve an escalation, and one for curl.

    Args:
        red_tests: whether a question is about tests that fail at the base.
    """
    resolve = f"    phaserunner escalations resolve {str(escalation_id)[:8]}"
    lines: list[str] = []
    body: dict[str, object] = {"decision": "retry"}
    if reason_kind in _BUDGETS:
        # If a budget ended the work, guidance for another way to work does not help.
        lines += [f"{resolve} --retry    (or --reject)"]
    elif reason_kind == "agent_unavailable":
        # There is no output to accept, and nothing to tell the agent.
        lines += [*(f"    {line}" for line in _UNAVAILABLE_HINT), "", f"{resolve} --retry    (or --reject)"]
    else:
        lines += [f'{resolve} --retry --guidance "{_GUIDANCE}" --attempts 1']
        lines += [f"{resolve} --accept    (or --reject)"]
        if red_tests:
            lines += [f"{resolve} --accept --known-failures    (later runs do not ask again)"]
        body |= {"guidance": _GUIDANCE, "additional_attempts": 1}
    command = curl(escalation_id, url, body, with_token=with_token)
    return [*lines, "", "The same with curl:", f"    {command}", ""]


def curl(escalation_id: UUID, url: str, answer: Mapping[str, object], *, with_token: bool = False) -> str:
    """Return the curl command that resolves an escalation."""
    body = json.dumps(answer)
    address = shlex.quote(f"{url}/api/v1/escalations/{escalation_id}/resolve")
    login = ' -H "Authorization: Bearer $PHASERUNNER_TOKEN"' if with_token else ""
    return f"curl -s -X POST {address}{login} -H 'Content-Type: application/json' -d '{body}'"
