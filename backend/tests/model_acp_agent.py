"""A tiny coding agent that speaks ACP: asks a model over OpenAI chat, and keeps one conversation.

It needs the protocol's SDK and the module beside it, and runs in the sandbox like any installed agent.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from acp import run_agent
from acp.helpers import update_agent_message_text
from acp.schema import AgentCapabilities, InitializeResponse, NewSessionResponse, PromptResponse

# An isolated interpreter does not look beside its script.
sys.path.insert(0, str(Path(__file__).parent))

from model_client_agent import ask


class ModelAgent:
    """Carries each prompt to the model, and the shell commands that the model calls for back to it."""

    def __init__(self) -> None:
        self.client: Any = None
        self.messages: list[dict[str, object]] = []

    def on_connect(self, connection: Any) -> None:
        """Keep the way to the client."""
        self.client = connection

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Agree."""
        return InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=AgentCapabilities(load_session=False)
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Begin."""
        return NewSessionResponse(session_id="s-1")

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Go on: the end of the program ends the turn."""

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        """Work until the model calls for no command."""
        self.messages.append({"role": "user", "content": prompt[0].text})
        while True:
            message = await asyncio.to_thread(ask, self.messages)
            self.messages.append(message)
            calls = message.get("tool_calls")
            if not isinstance(calls, list) or not calls:
                break
            for call in calls:
                command = json.loads(call["function"]["arguments"])["command"]
                done = await asyncio.to_thread(
                    subprocess.run, ["sh", "-c", command], capture_output=True, text=True, check=False
                )
                told = done.stdout + done.stderr or "done"
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
        said = update_agent_message_text(str(message.get("content")))
        await self.client.session_update(session_id, said)
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(run_agent(ModelAgent()))  # type: ignore[arg-type]
