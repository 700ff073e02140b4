"""A tiny coding agent that speaks ACP: asks a model over OpenAI chat, and keeps its conversations.

It needs the protocol's SDK and the module beside it, and runs in the sandbox like any installed agent.
With `LOADS=1` it can load a conversation, which it writes down in its home directory line by line.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from acp import RequestError, run_agent
from acp.helpers import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_tool_call,
)
from acp.schema import (
    AgentCapabilities,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
)

# An isolated interpreter does not look beside its script.
sys.path.insert(0, str(Path(__file__).parent))

from model_client_agent import ask

SESSION = "s-1"


class ModelAgent:
    """Carries each prompt to the model, and the shell commands that the model calls for back to it."""

    def __init__(self) -> None:
        self.client: Any = None
        self.messages: list[dict[str, object]] = []
        self.kept = Path(os.environ["HOME"], f"{SESSION}.json")

    def on_connect(self, connection: Any) -> None:
        """Keep the way to the client."""
        self.client = connection

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Agree."""
        can = AgentCapabilities(load_session=os.environ.get("LOADS") == "1")
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=can)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Begin."""
        return NewSessionResponse(session_id=SESSION)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        """Go on with what was written down."""
        try:
            self.messages = json.loads(self.kept.read_text())
        except OSError as error:
            raise RequestError(-32_602, "there is no such session") from error
        return LoadSessionResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Go on: the end of the program ends the turn."""

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        """Work until the model calls for no command."""
        self._note({"role": "user", "content": prompt[0].text})
        while True:
            message = await asyncio.to_thread(ask, self.messages)
            self._note(message)
            calls = message.get("tool_calls")
            if not isinstance(calls, list) or not calls:
                break
            for call in calls:
                await self._run(session_id, call)
        said = update_agent_message_text(str(message.get("content")))
        await self.client.session_update(session_id, said)
        return PromptResponse(stop_reason="end_turn")

    async def _run(self, session_id: str, call: dict[str, Any]) -> None:
        command = json.loads(call["function"]["arguments"])["command"]
        begun = start_tool_call(
            call["id"], "shell", kind="execute", status="in_progress", raw_input={"command": command}
        )
        await self.client.session_update(session_id, begun)
        done = await asyncio.to_thread(
            subprocess.run, ["sh", "-c", command], capture_output=True, text=True, check=False
        )
        told = done.stdout + done.stderr or "done"
        shown = [tool_content(text_block(told))]
        ended = update_tool_call(call["id"], status="completed", content=shown)
        await self.client.session_update(session_id, ended)
        self._note({"role": "tool", "tool_call_id": call["id"], "content": told})

    def _note(self, message: dict[str, object]) -> None:
        self.messages.append(message)
        self.kept.write_text(json.dumps(self.messages))


if __name__ == "__main__":
    asyncio.run(run_agent(ModelAgent()))  # type: ignore[arg-type]
