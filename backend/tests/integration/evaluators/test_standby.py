"""Hooks that a process answers which stands by: the same verdict, the caller's settings, and nothing left."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.evaluators.changes import BASE, CHANGES, RULES
from tests.integration.evaluators.support import commit_all, lay_out, needs_node
from tests.patience import PATIENCE, UNHURRIED, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who asks")

PROGRAM = Path(sys.executable).with_name("phaserunner")
IMPORTS_MUCH = "pydantic"
SLOW = f'{RULES}[[command]]\nname = "slow"\nrun = ["sleep", "{PATIENCE:g}"]\ntimeout = {PATIENCE:g}\n'


class Home:
    """The home of a user, in which a process may stand by."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.sockets = place / ".local" / "state" / "phaserunner" / "standby"

    def env(self, **more: str) -> dict[str, str]:
        # Python then says on standard error what it imports.
        usual = {"HOME": str(self.place), "PYTHONPROFILEIMPORTTIME": "1", "HOOK_STANDBY_SECONDS": "3600"}
        return {**os.environ, **UNHURRIED, **usual, **more}

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "app.cli.standby.serving", "3600"]
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, env=self.env(), cwd="/", stdout=nothing, stderr=nothing)
        until(lambda: self.is_stood_by() or process.poll() is not None)
        assert process.poll() is None
        return process

    def is_stood_by(self) -> bool:
        return any(self.sockets.glob("*.sock"))

    def hook(self, project: Path, **more: str) -> subprocess.Popen[str]:
        event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(project), "stop_hook_active": False}
        (self.place / "event").write_text(json.dumps(event))
        with (self.place / "event").open() as stdin:
            return subprocess.Popen(
                [str(PROGRAM), "hook", "claude-code", "--run", "--base", "HEAD"],
                env=self.env(**more),
                cwd=self.place,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )

    def answer(self, project: Path, **more: str) -> tuple[dict[str, Any], bool]:
        """Call a hook; give its answer, and whether it was the work of the process that stands by."""
        with self.hook(project, **more) as hook:
            out, err = hook.communicate(timeout=PATIENCE)
        assert hook.returncode == 0, err[-2000:]
        return json.loads(out or "{}"), IMPORTS_MUCH not in err


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def standby(home: Home) -> Generator[subprocess.Popen[bytes]]:
    process = home.start()
    yield process
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    lay_out(project, {**BASE, "phaserunner.toml": SLOW})
    commit_all(project, "Start")
    lay_out(project, {"tea.txt": "black\n"})
    return project


def children(process: subprocess.Popen[bytes]) -> list[int]:
    return [
        int(each) for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ]


@needs_node
@pytest.mark.parametrize("name", ["good", "bad", "a weaker test", "a gate that errors"])
def test_the_verdict_is_the_same(
    tmp_path: Path, home: Home, standby: subprocess.Popen[bytes], name: str
) -> None:
    change = CHANGES[name]  # one of each verdict
    project = tmp_path / "project"
    lay_out(project, change.whole_base)
    commit_all(project, "Start")
    lay_out(project, change.files)
    said, is_its_work = home.answer(project, DATA_DIR=str(tmp_path / "data"))
    expected = {"passed": [], "failed": ["decision", "reason"]}.get(change.verdict, ["systemMessage"])
    assert (list(said), is_its_work) == (expected, True), said
    assert len(list((tmp_path / "data" / "hooks").iterdir())) == 1, "the caller's settings count"


def test_a_hook_that_is_killed_ends_its_work(
    home: Home, standby: subprocess.Popen[bytes], project: Path
) -> None:
    with home.hook(project) as hook:
        until(lambda: children(standby))
        hook.kill()
    until(lambda: not children(standby))
    assert standby.poll() is None


def test_a_hook_whose_work_is_killed_does_it_by_itself(
    home: Home, standby: subprocess.Popen[bytes], project: Path
) -> None:
    with home.hook(project) as hook:
        (worker,) = until(lambda: children(standby))
        os.kill(worker, signal.SIGKILL)
        until(lambda: IMPORTS_MUCH in Path(f"/proc/{hook.pid}/maps").read_text())
        hook.kill()


def test_the_first_hook_starts_what_answers_the_next_ones_until_it_is_unwanted(tmp_path: Path) -> None:
    home, project = Home(tmp_path), tmp_path / "project"
    lay_out(
        project, {"phaserunner.toml": RULES.partition('[[command]]\nname = "node_test"')[0], "tea.txt": ""}
    )
    commit_all(project, "Start")
    lay_out(project, {"tea.txt": "BUG"})
    first, is_its_work = home.answer(project)
    assert not is_its_work
    until(home.is_stood_by)
    second, is_its_work = home.answer(project)
    assert is_its_work
    assert (first["decision"], second["reason"]) == ("block", first["reason"].replace("1 of 3", "2 of 3"))
    third, is_its_work = home.answer(project, HOOK_STANDBY_SECONDS="0")
    assert (third["decision"], is_its_work) == ("block", True)
    until(lambda: not home.is_stood_by())
    assert home.answer(project, HOOK_STANDBY_SECONDS="0")[1] is False
    assert not home.is_stood_by()
