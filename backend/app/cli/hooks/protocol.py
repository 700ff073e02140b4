"""The hook protocols: an agent's input to a hook, and the output that it reads."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.cli.exits import CliError
from app.cli.hooks.answer import HookAnswer, HookReply


class HookEvent(BaseModel):
    """An event of an agent's session. Agents add other members, which are ignored.

    Attributes:
        hook_event_name: `SessionStart`, `Stop` or `SessionEnd`; others get an empty answer.
        session_id: identifies the session.
        cwd: the agent's working directory, absolute.
        stop_hook_active: True if a hook already sent the agent back in this turn.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    hook_event_name: str = Field(max_length=100)
    session_id: str = Field(min_length=1, max_length=500)
    cwd: str = Field(min_length=1, max_length=4096)
    stop_hook_active: bool = False


def read_event(text: str) -> HookEvent:
    """Read an event.

    Raises:
        CliError: it is not an event. The message names the member.
    """
    try:
        return HookEvent.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "standard input"
        raise CliError(f"{place}: {first['msg']}; this command is for the agent to call") from error


def write_answer(answer: HookAnswer) -> str:
    """Return the JSON that Claude Code and Codex read, or `""` if there is nothing to say."""
    document: dict[str, Any]
    match answer.answer:
        case HookReply.STOP:
            return ""
        case HookReply.CONTINUE:
            document = {"decision": "block", "reason": answer.text}
        case HookReply.STOP_WARNED:
            document = {"systemMessage": answer.text}
    return json.dumps(document) + "\n"
