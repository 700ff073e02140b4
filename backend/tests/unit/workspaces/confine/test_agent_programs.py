"""What an agent runs: in its workspace, and nowhere else."""

import os
import sys
from pathlib import Path

import pytest

from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

CODE = """
import pathlib, sys
pathlib.Path("here").write_text("x")
for place in sys.argv[1:]:
    try:
        pathlib.Path(place).write_text("x")
    except OSError:
        print("refused")
"""


async def run(programs: AgentPrograms, place: Path, *arguments: str) -> str:
    argv = [sys.executable, "-I", "-c", CODE, *arguments]
    outcome = await programs(
        argv, cwd=place, env={"PATH": "/usr/bin:/bin"}, timeout=PATIENCE, output_limit=1000
    )
    return outcome.stdout


async def test_it_may_change_its_workspace_only(tmp_path: Path) -> None:
    sandbox = Sandbox()
    if not (await sandbox.state()).confined:
        pytest.skip("no sandbox here")
    place = tmp_path / "tree"
    place.mkdir()
    assert await run(AgentPrograms(sandbox), place, str(tmp_path / "beside")) == "refused\n"
    assert (os.listdir(tmp_path), os.listdir(place)) == (["tree"], ["here"])


async def test_what_cannot_be_confined_is_not_run(tmp_path: Path) -> None:
    programs = AgentPrograms(Sandbox(program="/nowhere/bwrap"))
    with pytest.raises(OSError, match="SANDBOX=off"):
        await run(programs, tmp_path)
    assert os.listdir(tmp_path) == []
