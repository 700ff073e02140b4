"""What the hook adds to the tools that it runs, and how long `init` takes with a thousand files.

The hook is called by itself and with a process that stands by. Processor time is that of the hook, of the
process that works for it, and of everything that either started. Each call of the hook is followed by a
reference: the same tool in the same sandbox without the hook. It shows what other work on the machine adds.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.workspaces.confine.confinement import Confinement
from app.workspaces.confine.sandbox import Sandbox
from benchmarks.figures import Series

TITLE = "front doors: what the hook and `init` add to the tools, in seconds of wall clock and of processor"
HOOK_TARGET = 0.3
INIT_TARGET = 60.0

_ROUNDS = 7
_FILES = 1000
_TOOL_SECONDS = 1.0
_STANDBY_SECONDS = 600
_OFF = "".join(f"[evaluators.{each}]\nenabled = false\n" for each in ("pytest", "ruff_lint", "type_check"))
_GATE = f'[[command]]\nname = "tool"\nrun = ["sleep", "{_TOOL_SECONDS:g}"]\ntimeout = 600\n'
_TOOK = re.compile(r"\((\d+\.\d) s[;)]")


async def measure(place: Path) -> list[Series]:
    """Call an agent's hook with one gate that takes a second, and `init` where node's tests are found."""
    return await asyncio.to_thread(_measure, place)


def _measure(place: Path) -> list[Series]:
    beyond, tools = _init(place / "init")
    return [
        *_hooks(place / "hook"),
        Series(f"init with {_FILES} files, beyond its tools", beyond, "s", INIT_TARGET),
        Series("init, its tools", tools, "s"),
    ]


def _hooks(place: Path) -> list[Series]:
    project = _project(place, {"phaserunner.toml": _OFF + _GATE, "tea.txt": "green\n"})
    (project / "tea.txt").write_text("black\n")
    alone = _hook(place, project)
    server = _stand_by(place)
    try:
        helped = _hook(place, project, server.pid)
        memory = _memory(server.pid) / 1_000_000
    finally:
        server.terminate()
        server.wait()
    return [
        Series("hook, beyond its tool", helped.wall, "s", HOOK_TARGET),
        Series("reference: the tool in a sandbox, beyond its time", helped.reference, "s"),
        Series("hook, beyond the reference", helped.beyond, "s", HOOK_TARGET),
        Series("hook, processor time", helped.processor, "s", HOOK_TARGET),
        Series("memory of what stands by", [memory], "MB"),
        Series("hook by itself, beyond its tool", alone.wall, "s"),
        Series("hook by itself, processor time", alone.processor, "s"),
    ]


@dataclass(slots=True)
class _Calls:
    """Seconds of some calls of the hook, and of the reference after each, without the tool's own second."""

    wall: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])
    reference: list[float] = field(default_factory=list[float])

    @property
    def beyond(self) -> list[float]:
        return [hook - bare for hook, bare in zip(self.wall, self.reference, strict=True)]


def _hook(place: Path, project: Path, server: int | None = None) -> _Calls:
    event = {"hook_event_name": "Stop", "cwd": str(project), "stop_hook_active": False}
    calls = _Calls()
    for number in range(_ROUNDS + 1):
        told = json.dumps({**event, "session_id": str(number)})
        before = _used(server)
        call = ["hook", "claude-code", "--run", "--base", "HEAD"]
        seconds, used, _ = _call(place, call, told, is_stood_by=server is not None)
        if number:  # the first reads files that no cache has
            calls.wall.append(seconds - _TOOL_SECONDS)
            calls.processor.append(used + _used(server) - before)
            calls.reference.append(_bare(project) - _TOOL_SECONDS)
    return calls


def _bare(project: Path) -> float:
    """Run the tool in a sandbox; give its wall clock in seconds."""

    async def run() -> float:
        sandbox = Sandbox()
        assert (await sandbox.state()).confined
        started = time.perf_counter()
        await sandbox.run(
            ["sleep", f"{_TOOL_SECONDS:g}"],
            cwd=project,
            env={"PATH": "/usr/bin:/bin"},
            timeout=600,
            confinement=Confinement(readable=(project,)),
        )
        return time.perf_counter() - started

    return asyncio.run(run())


def _stand_by(place: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-P", "-m", "app.cli.standby.serving", str(_STANDBY_SECONDS)]
    server = subprocess.Popen(command, cwd="/", env=_env(place, is_stood_by=True))
    while not list(place.glob(".local/state/phaserunner/standby/*.sock")):
        assert server.poll() is None
        time.sleep(0.05)
    return server


def _used(process: int | None) -> float:
    """Give the processor time of a process and its children, in seconds, once they have ended."""
    if process is None:
        return 0.0
    while Path(f"/proc/{process}/task/{process}/children").read_text():
        time.sleep(0.05)
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _env(place: Path, *, is_stood_by: bool) -> dict[str, str]:
    own = {"HOME": str(place), "PYTHONPATH": str(Path(__file__).parents[1])}
    return {**os.environ, **own, "HOOK_STANDBY_SECONDS": str(_STANDBY_SECONDS if is_stood_by else 0)}


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


def _call(
    place: Path, arguments: list[str], stdin: str, *, is_stood_by: bool = False
) -> tuple[float, float, str]:
    """Call the command line; give its wall clock, its processor time with what it started, and its output."""
    out = place / "out.txt"
    started = time.perf_counter()
    with out.open("w") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "phaserunner", *arguments],
            cwd=place,
            env=_env(place, is_stood_by=is_stood_by),
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
