"""One table of changes: the command line, its reports, a hook and the MCP server give the same verdict."""

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from rich.console import Console

from app.cli.commands.evaluate import Against, evaluate
from app.cli.commands.hook import HookOptions, hook
from app.cli.formats.names import ReportFormat
from app.cli.hooks.clients import HookClient
from app.cli.root import Options, Root
from app.core.config import Settings
from app.mcp.server import build_server
from app.runners.evaluators.commands.junit import read_junit

pytestmark = pytest.mark.anyio

RULES = """\
[evaluators.pytest]
enabled = false
[evaluators.ruff_lint]
enabled = false
[evaluators.type_check]
enabled = false
[[command]]
name = "no_bug"
run = "if grep -q LOST tea.txt; then exit 127; fi; ! grep -q BUG tea.txt"
pass_codes = [0]
"""
BASE = {
    "phaserunner.toml": RULES,
    "tea.txt": "green\n",
    "tests/test_tea.py": "def test_tea():\n    assert open('tea.txt').read() == 'green'\n",
}
WEAKER = "def test_tea():\n    assert open('tea.txt').read()\n"
CASES = {
    "good": ({"tea.txt": "black\n"}, "passed", 0),
    "bad": ({"tea.txt": "BUG\n"}, "failed", 1),
    "a weaker test": ({"tests/test_tea.py": WEAKER}, "asks", 3),
    "a weaker gate": ({"phaserunner.toml": RULES.replace("BUG", "bug"), "tea.txt": "BUG\n"}, "failed", 1),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    lay_out(project, BASE)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], cwd=project, check=True
        )
    return project


def lay_out(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def root_at(place: Path, stdin: str = "") -> tuple[Root, io.StringIO]:
    out = io.StringIO()
    settings = Settings(_env_file=None, DATA_DIR=place / "data")
    consoles = [Console(file=each, markup=False, width=200) for each in (out, io.StringIO())]
    return Root(settings, consoles[0], consoles[1], io.StringIO(stdin), place), out


@pytest.mark.parametrize(
    ("changes", "verdict", "code"), [pytest.param(*CASES[name], id=name) for name in CASES]
)
async def test_every_way_in_gives_the_same_verdict(
    tmp_path: Path, project: Path, changes: dict[str, str], verdict: str, code: int
) -> None:
    lay_out(project, changes)
    assert await by_cli(tmp_path, project) == (verdict, code)
    assert await by_hook(tmp_path, project) == {"passed": "", "failed": "block", "asks": "warn"}[verdict]
    assert await by_mcp(tmp_path, project) == verdict


async def by_cli(place: Path, project: Path) -> tuple[str, int]:
    root, out = root_at(place)
    reports = ["sarif=out.sarif", "junit=out.xml", "gitlab=out.json", "markdown=out.md"]
    code = await evaluate(
        project,
        against=Against(base="HEAD"),
        output_format=ReportFormat.GITHUB,
        report=reports,
        options=Options(),
        root=root,
    )
    sarif = json.loads((place / "out.sarif").read_text())["runs"][0]["properties"]["verdict"]
    is_red = bool(read_junit((place / "out.xml").read_bytes(), place).failures)
    assert is_red == (code != 0)
    assert (
        ("::error" in out.getvalue()) == ("major" in (place / "out.json").read_text()) == (sarif == "failed")
    )
    assert f"PhaseRunner: {sarif}" in (place / "out.md").read_text()
    return sarif, code


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
