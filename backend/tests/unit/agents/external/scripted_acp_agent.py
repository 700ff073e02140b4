"""An agent that speaks ACP through the SDK: the first word of its prompt says how it behaves."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from acp import RequestError, run_agent
from acp.helpers import start_tool_call, text_block, tool_content, update_agent_message_text, update_tool_call
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    SetSessionModeResponse,
    ToolCallUpdate,
)


def write(name: str, text: str = "yes") -> None:
    """Leave a sign in the workspace."""
    Path(name).write_text(text)


def recall(more: str = "") -> str:
    """Add to the conversation in the home directory, and give all of it."""
    conversation = Path(os.environ["HOME"], "conversation")
    before = conversation.read_text() if conversation.exists() else ""
    if more:
        conversation.write_text(f"{before}{more}|")
        return conversation.read_text()
    return before


class ScriptedAgent:
    """Does what its prompt says; no model is asked."""

    def __init__(self) -> None:
        self.client: Any = None
        self.mode = "default"
        self.cancelled = asyncio.Event()

    def on_connect(self, connection: Any) -> None:
        """Keep the way to the client."""
        self.client = connection

    async def initialize(self, protocol_version: int, client_capabilities: Any = None, **_: Any) -> Any:
        """Agree, unless the client offers what it must not."""
        offered = client_capabilities.model_dump() if client_capabilities else {}
        files = offered.get("fs") or {}
        if files.get("read_text_file") or files.get("write_text_file") or offered.get("terminal"):
            raise RequestError.internal_error({"details": "files or terminals were offered"})
        can = AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=can)

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Take any method but two."""
        if method_id == "never-answers":
            await asyncio.Event().wait()
        if method_id == "vendor-login":
            raise RequestError.auth_required()
        return AuthenticateResponse()

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Begin."""
        return NewSessionResponse(session_id="s-1")

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        """Go on with the only conversation, if it is there."""
        if not recall():
            raise RequestError.invalid_params({"details": "there is no such conversation"})
        await self.client.session_update(session_id, update_agent_message_text("said before"))
        return LoadSessionResponse()

    async def set_session_mode(self, mode_id: str, session_id: str, **_: Any) -> SetSessionModeResponse:
        """Keep the mode."""
        self.mode = mode_id
        return SetSessionModeResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Leave a sign."""
        write("cancelled")
        self.cancelled.set()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        """Behave."""
        text = prompt[0].text
        match text.split(" ", 1)[0]:
            case "dies":
                sys.stderr.write("out of luck\n")
                sys.stderr.flush()
                os._exit(4)
            case "error":
                raise RequestError.internal_error({"details": "the model is gone"})
            case "waits":
                write("begun")
                await self.cancelled.wait()
                return PromptResponse(stop_reason="cancelled")
            case "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                write("begun")
                await asyncio.sleep(1000)
            case "pauses":
                recall("pauses")
                write("half-done.txt")
                write(".agent.log")
                write("begun")
                await self.cancelled.wait()
                return PromptResponse(stop_reason="cancelled")
            case "remember" | "idles":
                told = f"{os.getcwd()} {recall(text)}"
                await self.client.session_update(session_id, update_agent_message_text(told))
                return PromptResponse(stop_reason="end_turn")
            case "exhausted":
                return PromptResponse(stop_reason="max_turn_requests")
            case _:
                pass
        await (self._edit(session_id) if text == "edits" else self._work(session_id, text))
        return PromptResponse(stop_reason="end_turn")

    async def _edit(self, session_id: str) -> None:
        """Edit one file often. The arguments of each call follow in an update; all results are the same."""
        for number in range(20):
            began = start_tool_call(f"e{number}", "edit", kind="edit", status="pending", raw_input={})
            await self.client.session_update(session_id, began)
            given = {"path": "done.txt", "old": "x" * 200 + str(number)}
            more = update_tool_call(f"e{number}", status="in_progress", raw_input=given)
            await self.client.session_update(session_id, more)
            write("done.txt", str(number))
            done = [tool_content(text_block("Edit applied successfully."))]
            await self.client.session_update(
                session_id, update_tool_call(f"e{number}", status="completed", content=done)
            )

    async def _work(self, session_id: str, text: str) -> None:
        await self.client.session_update(session_id, update_agent_message_text("I look\nand "))
        await self.client.session_update(session_id, update_agent_message_text("see."))
        options = [
            PermissionOption(option_id="n", name="No", kind="reject_once"),
            PermissionOption(option_id="whatever", name="Yes", kind="allow_always"),
        ]
        call = ToolCallUpdate(tool_call_id="c1", title="write")
        answer = await self.client.request_permission(session_id, call, options)
        await self.client.session_update(
            session_id, start_tool_call("c1", "write done.txt", kind="edit", raw_input={"path": "done.txt"})
        )
        write("done.txt", f"{self.mode} {answer.outcome.outcome} {answer.outcome.option_id}")
        done = update_tool_call("c1", status="completed", content=[tool_content(text_block("written"))])
        await self.client.session_update(session_id, done)
        await self.client.session_update(session_id, update_agent_message_text(f"Done: {len(text)}"))


if __name__ == "__main__":
    asyncio.run(run_agent(ScriptedAgent()))  # type: ignore[arg-type]
