"""OpenCode's plugin, run by Node: what it asks for at each event, and what becomes of each answer."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli.hooks.scripts import opencode_plugin

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

HOOK = """
import pathlib, sys
here = pathlib.Path.cwd()
with (here / "asked").open("a") as file:
    file.write(sys.stdin.read() + "\\n")
sys.stdout.write((here / "answer").read_text())
sys.exit(int((here / "code").read_text()))
"""
OPENCODE = """
import { PhaseRunner } from "./plugin.mjs"
const done = []
const parents = { child: "one" }
const client = {
  session: {
    get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
    prompt: async (given) => void done.push({ prompt: given }),
  },
  tui: { showToast: async (given) => void done.push({ toast: given }) },
}
const { event } = await PhaseRunner({ client, directory: "/the/project" })
for (const each of JSON.parse(process.argv[2])) await event({ event: each })
process.stdout.write(JSON.stringify(done))
"""
IDLE = {"type": "session.idle", "properties": {"sessionID": "one"}}
BLOCK = json.dumps({"decision": "block", "reason": "Fix it."})
WARNING = json.dumps({"systemMessage": "No verdict."})


def play(
    place: Path, *events: dict[str, Any], answer: str = "", code: int = 0, command: str = sys.executable
) -> tuple[list[Any], list[Any]]:
    """Let OpenCode's events reach the plugin; give what it had OpenCode do, and what it asked the hook."""
    for name, text in {
        "hook.py": HOOK,
        "answer": answer,
        "code": str(code),
        "opencode.mjs": OPENCODE,
    }.items():
        (place / name).write_text(text)
    (place / "plugin.mjs").write_text(opencode_plugin([command, "hook.py"], place))
    run = ["node", "opencode.mjs", json.dumps(events)]
    done = subprocess.run(run, cwd=place, check=True, capture_output=True, text=True)
    asked = (place / "asked").read_text().splitlines() if (place / "asked").exists() else []
    return json.loads(done.stdout), [json.loads(each) for each in asked]


def test_events_of_a_session_reach_the_hook(tmp_path: Path) -> None:
    events = [
        {"type": "session.created", "properties": {"info": {"id": "one"}}},
        {"type": "message.updated", "properties": {"info": {"id": "two"}}},
        IDLE,
        {"type": "session.idle", "properties": {"sessionID": "child"}},
        {"type": "session.deleted", "properties": {"info": {"id": "one"}}},
    ]
    done, asked = play(tmp_path, *events)
    assert done == []
    assert [each["hook_event_name"] for each in asked] == ["SessionStart", "Stop", "SessionEnd"]
    assert {(each["session_id"], each["cwd"]) for each in asked} == {("one", "/the/project")}


def test_findings_become_a_message_of_the_session(tmp_path: Path) -> None:
    done, _ = play(tmp_path, IDLE, answer=BLOCK)
    body = {"parts": [{"type": "text", "text": "Fix it."}]}
    assert done == [{"prompt": {"path": {"id": "one"}, "body": body}}]


@pytest.mark.parametrize(
    ("answer", "code", "command", "told"),
    [
        pytest.param(WARNING, 0, sys.executable, "No verdict.", id="a warning"),
        pytest.param("", 1, sys.executable, "PhaseRunner reached no verdict: it ended with 1", id="trouble"),
        pytest.param("{", 0, sys.executable, "PhaseRunner gave no readable answer", id="no answer"),
        pytest.param("", 0, "/nonexistent", "PhaseRunner cannot be started: ", id="no program"),
    ],
)
def test_what_is_no_verdict_is_a_warning_for_the_user(
    tmp_path: Path, answer: str, code: int, command: str, told: str
) -> None:
    ((toast,), _) = play(tmp_path, IDLE, answer=answer, code=code, command=command)
    assert toast["toast"]["body"]["message"].startswith(told)
    assert toast["toast"]["body"]["variant"] == "warning"
