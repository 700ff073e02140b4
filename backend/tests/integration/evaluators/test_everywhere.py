"""One table of changes: every way into the judge gives the same verdict.

A started run is the fifth way: `tests/acceptance/test_same_verdict.py` has it. `test_standby.py` has
hooks that a process answers which stands by.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
import yaml
from mcp.client.client import Client

from app.cli.commands.evaluate import BaseChoice, evaluate
from app.cli.commands.hook import HookOptions, hook
from app.cli.formats.names import ReportFormat
from app.cli.hooks.clients import HookClient
from app.cli.root import Options
from app.mcp.server import build_server
from app.runners.evaluators.commands.junit import read_junit
from tests.integration.evaluators.changes import CHANGES, Change
from tests.integration.evaluators.support import commit_all, git, lay_out, needs_node, root_at
from tests.patience import UNHURRIED

pytestmark = [pytest.mark.anyio, needs_node]

ROOT = Path(__file__).parents[4]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
PROGRAM = Path(sys.executable).with_name("phaserunner")
EACH_CHANGE = pytest.mark.parametrize(
    "change", [pytest.param(each, id=name) for name, each in CHANGES.items()]
)


def lay_out_change(place: Path, change: Change) -> Path:
    """Make a repository at the change's base, with the change in its working tree."""
    project = place / "project"
    lay_out(project, change.whole_base)
    commit_all(project, "Start")
    lay_out(project, change.files)
    return project


@EACH_CHANGE
async def test_every_way_in_gives_the_same_verdict(tmp_path: Path, change: Change) -> None:
    project = lay_out_change(tmp_path, change)
    assert await by_cli(tmp_path, project) == (change.verdict, change.code)
    said = {"passed": "", "failed": "block", "asks": "warn", "errored": "warn"}[change.verdict]
    assert await by_hook(tmp_path, project) == said
    assert await by_mcp(tmp_path, project) == change.verdict


@EACH_CHANGE
def test_a_push_gets_the_same_verdict(tmp_path: Path, change: Change) -> None:
    project = lay_out_change(tmp_path, change)
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    git(project, "remote", "add", "origin", str(remote))
    git(project, "push", "-q", "origin", "HEAD~0:refs/heads/main")
    env = {**os.environ, **UNHURRIED, "HOME": str(tmp_path / "home"), "HOOK_STANDBY_SECONDS": "0"}
    (tmp_path / "home").mkdir()
    install = [str(PROGRAM), "hook", "git-pre-push", "--install", str(project)]
    subprocess.run(install, env=env, check=True)
    before = git(project, "rev-parse", "HEAD")
    commit_all(project, "Change")
    push = ["git", "push", "-q", "origin", "main"]
    done = subprocess.run(push, cwd=project, env=env, check=False, capture_output=True, text=True)
    assert f"PhaseRunner: refs/heads/main {change.verdict}: " in done.stderr, done.stderr
    # Only a failure refuses the push; people decide what is uncertain.
    is_refused = change.verdict == "failed"
    assert (done.returncode != 0) == is_refused, done.stderr
    assert (git(remote, "rev-parse", "main") == before) == is_refused


@EACH_CHANGE
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_ci_step_gets_the_same_verdict(tmp_path: Path, change: Change) -> None:
    """The action's own step runs as a composite step does; what it installs is this program."""
    project = lay_out_change(tmp_path, change)
    base = git(project, "rev-parse", "HEAD")
    commit_all(project, "Change")
    runner = tmp_path / "runner"
    (runner / "phaserunner" / "bin").mkdir(parents=True)
    for name in ("phaserunner", "python"):
        program = runner / "phaserunner" / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).with_name(name)}" "$@"\n')
        program.chmod(0o755)
    step = next(each for each in ACTION["runs"]["steps"] if each.get("id") == "evaluate")
    given = {"inputs.base": base, "inputs.phase": "coding", "inputs.path": ".", "inputs.models": "false"}
    env = {name: given[value.strip("${} ")] for name, value in step["env"].items()}
    env |= {"GITHUB_WORKSPACE": str(project), "RUNNER_TEMP": str(runner)}
    env |= {each: str(runner / each.lower()) for each in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env={**os.environ, **UNHURRIED, **env},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == change.code, done.stderr
    outputs = dict(line.split("=", 1) for line in (runner / "github_output").read_text().splitlines())
    assert outputs["verdict"] == change.verdict
    assert ("::error " in done.stdout) == (change.verdict == "failed")
    sarif = json.loads(Path(outputs["sarif"]).read_text())
    assert sarif["runs"][0]["properties"]["verdict"] == change.verdict
    assert f"PhaseRunner: {change.verdict}" in (runner / "github_step_summary").read_text()


async def by_cli(place: Path, project: Path) -> tuple[str, int]:
    root, out = root_at(place)
    reports = ["sarif=out.sarif", "junit=out.xml", "gitlab=out.json", "markdown=out.md"]
    code = await evaluate(
        project,
        against=BaseChoice(base="HEAD"),
        output_format=ReportFormat.GITHUB,
        report=reports,
        options=Options(),
        root=root,
    )
    sarif = json.loads((place / "out.sarif").read_text())["runs"][0]["properties"]["verdict"]
    assert await anyio.to_thread.run_sync(is_red, place) == (code != 0)
    assert (
        ("::error " in out.getvalue()) == ("major" in (place / "out.json").read_text()) == (sarif == "failed")
    )
    assert f"PhaseRunner: {sarif}" in (place / "out.md").read_text()
    return sarif, code


def is_red(place: Path) -> bool:
    """Tell whether CI shows the JUnit report as red."""
    return bool(read_junit((place / "out.xml").read_bytes(), place).failures)


async def by_hook(place: Path, project: Path) -> str:
    event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(project), "stop_hook_active": False}
    root, out = root_at(place, json.dumps(event))
    assert await hook(HookClient.CLAUDE_CODE, given=HookOptions(run=True, base="HEAD"), root=root) == 0
    answer: dict[str, Any] = json.loads(out.getvalue() or "{}")
    return answer.get("decision") or ("warn" if "systemMessage" in answer else "")


async def by_mcp(place: Path, project: Path) -> str:
    root, _ = root_at(place)
    async with Client(build_server("1", root.judging, lambda _: None)) as client:
        arguments = {"path": str(project), "base": "HEAD"}
        done = await client.call_tool("judge_workspace", arguments)
    assert not done.is_error, done.content
    return done.structured_content["verdict"]
