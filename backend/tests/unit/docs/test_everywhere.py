"""The blocks of docs/everywhere.md run as they are written."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from app.cli.exits import ExitCode
from app.cli.formats.names import ReportFormat
from app.cli.hooks.clients import HookClient
from tests.unit.cli.fakes import FakeService, invoke
from tests.unit.cli.reports import PASSED, FakeJudging
from tests.unit.cli.test_hooks import git

PAGE = (Path(__file__).parents[4] / "docs" / "everywhere.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_every_command_of_the_page_works_in_a_new_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes.txt").write_text("tea\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        git(project, *command)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "phaserunner"
        done = invoke(FakeService(), *arguments, cwd=project, judging=FakeJudging([PASSED]))
        assert done.code == ExitCode.PASSED, (line, done)
    assert len(lines) >= 7
    assert json.loads((project / "out.sarif").read_text())["version"] == "2.1.0"
    assert (project / ".git" / "hooks" / "pre-push").stat().st_mode & 0o111


def test_the_page_names_every_format_and_program() -> None:
    assert set(re.findall(r"^\| `([a-z]+)` \|", PAGE, re.MULTILINE)) == set(ReportFormat)
    assert all(f"hook {each.value} --install" in PAGE for each in HookClient)


def test_configuration_of_the_page_can_be_read() -> None:
    (server,) = blocks("json")
    assert json.loads(server)["mcpServers"]["phaserunner"]["args"] == ["mcp"]
    (workflow,) = blocks("yaml")
    steps = yaml.safe_load(workflow)["jobs"]["phaserunner"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0
