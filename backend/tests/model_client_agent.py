"""A tiny coding agent as a command: asks a model over OpenAI chat and runs the shell commands it calls for.

Needs nothing but the standard library, so it runs in the sandbox like any installed agent. With
`--session new` it prints events as codex does and keeps its conversation; `--session ID` goes on with it.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

_TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}
_MAX_TURNS = 20
_SESSION = "thread-1"


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    """Ask the model; return its message."""
    body = {"model": os.environ["MODEL"], "messages": messages, "tools": [_TOOL]}
    request = urllib.request.Request(
        os.environ["BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {os.environ['TOKEN']}"},
    )
    with urllib.request.urlopen(request) as response:
        message: dict[str, object] = json.load(response)["choices"][0]["message"]
    return message


class Output:
    """What the agent prints: plain text, or events of a conversation that it keeps."""

    def __init__(self, session: str | None) -> None:
        self._session = session
        self._kept = Path(os.environ.get("HOME", "."), f"{_SESSION}.json")

    def begin(self) -> list[dict[str, object]]:
        """Say which conversation this is; return what was said in it before."""
        if self._session is None:
            return []
        self._tell("thread.started", thread_id=_SESSION)
        messages: list[dict[str, object]] = (
            json.loads(self._kept.read_text()) if self._session != "new" else []
        )
        return messages

    def keep(self, messages: list[dict[str, object]]) -> None:
        """Write the conversation down."""
        if self._session is not None:
            self._kept.write_text(json.dumps(messages))

    def called(self, command: str) -> None:
        """Show a command."""
        if self._session is None:
            sys.stdout.write(f"$ {command}\n")
            sys.stdout.flush()
        else:
            self._tell("item.started", item={"type": "command_execution", "command": command})

    def end(self, text: str) -> None:
        """Show the last message."""
        if self._session is None:
            sys.stdout.write(f"{text}\n")
        else:
            self._tell("item.completed", item={"type": "agent_message", "text": text})
            self._tell("turn.completed")

    def _tell(self, kind: str, **fields: object) -> None:
        sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
        sys.stdout.flush()


def main() -> int:
    """Work on the prompt on standard input."""
    output = Output(sys.argv[2] if sys.argv[1:2] == ["--session"] else None)
    messages = [*output.begin(), {"role": "user", "content": sys.stdin.read()}]
    for _ in range(_MAX_TURNS):
        output.keep(messages)
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls")
        if not isinstance(calls, list) or not calls:
            output.keep(messages)
            output.end(str(message.get("content")))
            return 0
        for call in calls:
            command = json.loads(call["function"]["arguments"])["command"]
            output.called(command)
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr or "done"}
            )
    return 1


if __name__ == "__main__":
    sys.exit(main())
