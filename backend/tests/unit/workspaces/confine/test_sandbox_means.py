"""What the sandbox needs of the machine (control groups, bubblewrap, an interpreter), and says without."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.launching import BubblewrapBackend
from app.workspaces.confine.python_places import interpreter_paths
from app.workspaces.confine.sandbox import Sandbox, SandboxUnavailableError
from tests.unit.workspaces.confine.support import run_python, said

pytestmark = pytest.mark.anyio

HIERARCHIES = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")


@pytest.fixture
def hierarchy() -> Generator[Path]:
    """A group of our own in a cgroup v2 hierarchy."""
    for name in HIERARCHIES:
        place = Path(name) / f"phaserunner-test-{os.getpid()}"
        if (Path(name) / "cgroup.procs").exists() and os.access(name, os.W_OK):
            place.mkdir()
            yield place
            place.rmdir()
            return
    pytest.skip("no cgroup v2 hierarchy can be written here")


async def test_a_launch_has_a_control_group_that_is_gone_afterwards(place: Path, hierarchy: Path) -> None:
    sandbox = Sandbox(SandboxSettings(cgroup=hierarchy))
    state = await sandbox.state()
    assert str(hierarchy) in state.detail
    if not state.confined:
        pytest.skip(state.detail)
    groups = await said(sandbox, place, "import json; print(json.dumps(open('/proc/self/cgroup').read()))")
    assert "0::/" in str(groups)
    assert (await run_python(sandbox, place, "import time; time.sleep(600)", timeout=0.5)).timed_out
    assert [each for each in os.listdir(hierarchy) if each.startswith("launch-")] == []


async def test_a_place_that_is_no_cgroup_is_said(tmp_path: Path) -> None:
    state = await Sandbox(SandboxSettings(cgroup=tmp_path)).state()
    assert not state.allowed
    assert "SANDBOX_CGROUP" in state.detail
    assert os.listdir(tmp_path) == []


NO_PROGRAM = "/nowhere/bwrap"


async def test_without_bubblewrap_nothing_runs_unless_the_operator_allows_it(place: Path) -> None:
    sandbox = Sandbox(program=NO_PROGRAM)
    assert not (await sandbox.state()).allowed
    with pytest.raises(SandboxUnavailableError, match="SANDBOX=off"):
        await run_python(sandbox, place, "open('ran', 'w')")
    assert not (place / "ran").exists()


async def test_a_bubblewrap_that_does_not_work_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    state = await Sandbox(program=str(broken)).state()
    assert not state.allowed
    assert "No permissions to create new namespace" in state.detail
    assert "install" not in state.detail, "it is there"


@pytest.mark.parametrize(
    ("program", "is_container", "advice"),
    [
        (None, False, "install bubblewrap"),
        (NO_PROGRAM, True, "install bubblewrap"),
        (sys.executable, False, "doctor --fix"),
        (sys.executable, True, "docker-compose.yml"),
    ],
)
def test_the_advice_fits_what_is_wrong(
    program: str | None, is_container: bool, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.workspaces.confine.launching.in_container", lambda: is_container)
    assert advice in BubblewrapBackend(SandboxSettings(), program).advice


async def test_a_program_that_only_says_the_right_thing_is_no_sandbox(tmp_path: Path) -> None:
    pretender = tmp_path / "bwrap"
    pretender.write_text("#!/bin/sh\necho 1000\n")
    pretender.chmod(0o755)
    assert not (await Sandbox(program=str(pretender)).state()).allowed


@pytest.mark.parametrize("mode", [SandboxMode.OFF, SandboxMode.PREFERRED])
async def test_unconfined_runs_are_called_so(place: Path, mode: SandboxMode) -> None:
    sandbox = Sandbox(SandboxSettings(mode=mode), program=NO_PROGRAM)
    state = await sandbox.state()
    assert (state.allowed, state.confined, state.name) == (True, False, "none")
    outcome = await run_python(sandbox, place, "open('ran', 'w')")
    assert outcome.returncode == 0
    assert (place / "ran").exists()


def test_an_interpreter_needs_its_environment_and_what_that_is_based_on(tmp_path: Path) -> None:
    installed = tmp_path / "versions" / "3.11" / "bin"
    installed.mkdir(parents=True)
    (installed / "python3.11").touch()
    (installed / "python3").symlink_to("python3.11")
    (tmp_path / "current").symlink_to(tmp_path / "versions" / "3.11")
    environment = tmp_path / "venv" / "bin"
    environment.mkdir(parents=True)
    (environment / "python").symlink_to(tmp_path / "current" / "bin" / "python3")
    assert interpreter_paths(environment / "python") == tuple(
        sorted([tmp_path / "venv", tmp_path / "current", tmp_path / "versions" / "3.11"])
    )
