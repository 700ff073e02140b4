"""What dead owners left is removed; what living ones use, and what is foreign, is not touched."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from app.workspaces.confine.ownership import Leftovers, Places, own_directory, owning, remove_leftovers
from app.workspaces.ending import wait_for_exit
from app.workspaces.owner_mark import OWNER_VARIABLE
from app.workspaces.process import run_process
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

BACKEND = Path(__file__).parents[4]

# Owns directories, starts a child that leaves its session, says so, and waits to be killed.
OWNER = """
import subprocess, sys, tempfile, time
from pathlib import Path
from app.workspaces.confine.ownership import Places, owning
from app.workspaces.owner_mark import OWNER_VARIABLE, owner_mark
with owning(Places(tuple(Path(each) for each in sys.argv[1:]))) as directories:
    for each in directories:
        (each / "tree").mkdir()
        (each / "tree" / "closed").mkdir(mode=0o000)
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(900)"],
        env={OWNER_VARIABLE: owner_mark()},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    child.stdout.readline()
    print(child.pid, owner_mark(), flush=True)
    time.sleep(900)
"""


@pytest.fixture
def parents(tmp_path: Path) -> tuple[Path, Path]:
    places = tmp_path / "scratch", tmp_path / "tmp"
    for each in places:
        each.mkdir()
    return places


@pytest.fixture
def owner(parents: tuple[Path, Path]) -> Iterator[tuple["subprocess.Popen[str]", int, str]]:
    """A process that owns directories and has a child."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, *map(str, parents)],
        env={**os.environ, "PYTHONPATH": str(BACKEND)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        child, mark = process.stdout.readline().split()
        yield process, int(child), mark
        process.kill()
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


async def test_a_process_that_ends_slowly_counts_once(
    parents: tuple[Path, Path],
    owner: tuple["subprocess.Popen[str]", int, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process, child, _ = owner
    process.kill()
    process.wait()
    # It is still there when the owner's second directory is looked at.
    monkeypatch.setattr(signal, "pidfd_send_signal", lambda *_: None)
    assert (await remove_leftovers(Places(parents))).processes == 1
    os.kill(child, signal.SIGKILL)


async def test_a_dead_owner_s_things_go_and_only_they(
    parents: tuple[Path, Path], owner: tuple["subprocess.Popen[str]", int, str]
) -> None:
    process, child, mark = owner
    foreign = parents[1] / "phaserunner-owned-by-somebody"
    foreign.mkdir()
    bystander = await anyio.open_process(["sleep", "900"], env={OWNER_VARIABLE: mark + "0"})
    try:
        assert await remove_leftovers(Places(parents)) == Leftovers()
        assert [len(os.listdir(each)) for each in parents] == [1, 2]
        process.kill()
        process.wait()
        found = await remove_leftovers(Places(parents))
        await wait_for_exit(child)
        assert (found.processes, found.directories) == (1, 2)
        assert [os.listdir(each) for each in parents] == [[], [foreign.name]]
        assert bystander.returncode is None
    finally:
        bystander.kill()
        await bystander.wait()


async def test_a_stopped_owner_is_not_dead(
    parents: tuple[Path, Path], owner: tuple["subprocess.Popen[str]", int, str]
) -> None:
    process, child, _ = owner
    process.send_signal(signal.SIGSTOP)
    assert await remove_leftovers(Places(parents)) == Leftovers()
    os.kill(child, 0)


async def test_a_directory_that_is_being_made_is_left(parents: tuple[Path, Path]) -> None:
    (parents[0] / "phaserunner-owned-0123").mkdir()
    (parents[0] / "phaserunner-owned-4567").symlink_to(parents[1])
    assert await remove_leftovers(Places(parents)) == Leftovers()
    assert len(os.listdir(parents[0])) == 2


async def test_temporary_files_and_children_are_the_owner_s(parents: tuple[Path, Path]) -> None:
    with owning(Places(parents)) as directories:
        with tempfile.TemporaryDirectory() as name:
            assert Path(name).parent == directories[1]
        told = await run_process(["/usr/bin/env"], cwd=parents[0], env={"A": "1"}, timeout=PATIENCE)
        mark = directories[0].name.rpartition("-")[2]
        assert set(told.stdout.split()) == {"A=1", f"{OWNER_VARIABLE}={mark}"}
    told = await run_process(["/usr/bin/env"], cwd=parents[0], env={"A": "1"}, timeout=PATIENCE)
    assert told.stdout.split() == ["A=1"]
    assert Path(tempfile.gettempdir()) != directories[1]


async def test_groups_of_a_dead_owner_go_and_only_they(parents: tuple[Path, Path], tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    with own_directory(parents[0], "aa"), own_directory(parents[0], "bb") as alive:
        for name in ("launch-aa-1", "launch-aa-2", "launch-bb-1", "launch--3", "other"):
            (groups / name).mkdir(parents=True)
        assert not await remove_leftovers(Places((parents[0],), groups))
        alive.joinpath("x").touch()
    with own_directory(parents[0], "cc"):
        (parents[0] / "phaserunner-owned-bb" / "owner.lock").unlink()
        found = await remove_leftovers(Places((parents[0],), groups))
    assert (found.groups, found.directories) == (2, 1)
    assert sorted(each.name for each in groups.iterdir()) == ["launch--3", "launch-bb-1", "other"]
