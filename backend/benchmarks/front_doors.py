"""What the hook adds to the tools that it runs, and how long `init` takes with a thousand files."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.figures import Series

TITLE = "front doors: what the hook and `init` add to the tools, in seconds of wall clock and of processor"
HOOK_TARGET = 0.3
INIT_TARGET = 60.0

_ROUNDS = 7
_FILES = 1000
_TOOL_SECONDS = 1.0
_OFF = "".join(f"[evaluators.{each}]\nenabled = false\n" for each in ("pytest", "ruff_lint", "type_check"))
_GATE = f'[[command]]\nname = "tool"\nrun = ["sleep", "{_TOOL_SECONDS:g}"]\ntimeout = 600\n'
_TOOK = re.compile(r"\((\d+\.\d) s[;)]")


async def measure(place: Path) -> list[Series]:
    """Call an agent's hook with one gate that takes a second, and `init` where node's tests are found."""
    return await asyncio.to_thread(_measure, place)


def _measure(place: Path) -> list[Series]:
    wall, processor = _hook(place / "hook")
    beyond, tools = _init(place / "init")
    return [
        Series("hook, beyond its tool", wall, "s", HOOK_TARGET),
        Series("hook, processor time", processor, "s"),
        Series(f"init with {_FILES} files, beyond its tools", beyond, "s", INIT_TARGET),
        Series("init, its tools", tools, "s"),
    ]


def _hook(place: Path) -> tuple[list[float], list[float]]:
    project = _project(place, {"phaserunner.toml": _OFF + _GATE, "tea.txt": "green\n"})
    (project / "tea.txt").write_text("black\n")
    event = {"hook_event_name": "Stop", "cwd": str(project), "stop_hook_active": False}
    wall: list[float] = []
    processor: list[float] = []
    for number in range(_ROUNDS + 1):
        told = json.dumps({**event, "session_id": str(number)})
        seconds, used, _ = _call(place, ["hook", "claude-code", "--run", "--base", "HEAD"], told)
        if number:  # the first reads files that no cache has
            wall.append(seconds - _TOOL_SECONDS)
            processor.append(used)
    return wall, processor


def _init(place: Path) -> tuple[list[float], list[float]]:
    files = {"package.json": '{"type": "module", "scripts": {"test": "node --test"}}'}
    for number in range(_FILES // 2):
        directory = f"src/part{number // 25}"
        files[f"{directory}/m{number}.js"] = f"export const value = {number};\n"
        files[f"{directory}/notes{number}.md"] = "Notes.\n"
    files["src/part0/m.test.js"] = (
        'import assert from "node:assert";\nimport test from "node:test";\nimport { value } from "./m1.js";\n'
        'test("value", () => assert.equal(value, 1));\n'
    )
    project = _project(place, files)
    beyond: list[float] = []
    tools: list[float] = []
    for _ in range(3):
        seconds, _, said = _call(place, ["init", "--force", str(project)], "")
        took = 3 * sum(float(each) for each in _TOOK.findall(said))
        beyond.append(seconds - took)
        tools.append(took)
    return beyond, tools


def _project(place: Path, files: Mapping[str, str]) -> Path:
    project = place / "project"
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
        subprocess.run(["git", *who, *command], cwd=project, check=True)
    return project


def _call(place: Path, arguments: list[str], stdin: str) -> tuple[float, float, str]:
    """Call the command line; give its wall clock, its processor time with what it started, and its output."""
    out = place / "out.txt"
    started = time.perf_counter()
    with out.open("w") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "phaserunner", *arguments],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    assert os.waitstatus_to_exitcode(status) == 0, out.read_text()
    return seconds, used.ru_utime + used.ru_stime, out.read_text()
