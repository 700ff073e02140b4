"""A tiny coding agent as a command: asks a model over OpenAI chat and runs the shell commands it calls for.

Needs nothing but the standard library, so it runs in the sandbox like any installed agent.
"""

import json
import os
import subprocess
import sys
import urllib.request

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


def main() -> int:
    """Work on the prompt on standard input."""
    messages: list[dict[str, object]] = [{"role": "user", "content": sys.stdin.read()}]
    for _ in range(_MAX_TURNS):
        message = ask(messages)
        messages.append(message)
        calls = message.get("tool_calls")
        if not isinstance(calls, list) or not calls:
            sys.stdout.write(f"{message.get('content')}\n")
            return 0
        for call in calls:
            command = json.loads(call["function"]["arguments"])["command"]
            sys.stdout.write(f"$ {command}\n")
            sys.stdout.flush()
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr or "done"}
            )
    return 1


if __name__ == "__main__":
    sys.exit(main())
