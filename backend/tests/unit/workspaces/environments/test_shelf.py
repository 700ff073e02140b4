"""Environments on their shelf: whole or not there, used side by side, removed when nobody needs them."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from app.workspaces.environments.shelf import Shelf, ShelfLimits

pytestmark = pytest.mark.anyio

KILLED_BUILDER = """
import os, signal, sys
from pathlib import Path
import anyio
from app.workspaces.environments.shelf import Shelf

async def build():
    async with Shelf(Path(sys.argv[1])).making("key") as site:
        (site / "half").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(build)
"""


async def put(shelf: Shelf, key: str, size: int = 4096, used: float = 0.0) -> None:
    async with shelf.making(key) as site:
        assert site is not None
        (site / "content").write_bytes(b"x" * size)
        await shelf.finish(key, site)
    if used:
        os.utime(shelf.root / f"{key}.lock", (used, used))


def names(place: Path, pattern: str = "*", *, directories: bool = False) -> set[str]:
    return {path.name for path in place.glob(pattern) if not directories or path.is_dir()}


async def is_there(shelf: Shelf, key: str) -> bool:
    async with shelf.lent(key) as place:
        return place is not None


async def test_git_ignores_a_data_directory_that_the_shelf_creates(tmp_path: Path) -> None:
    await put(Shelf(tmp_path / "data" / "setups"), "key")
    assert (tmp_path / "data" / ".gitignore").read_text() == "*\n"
    await put(Shelf(tmp_path / "setups"), "key")
    assert not (tmp_path / ".gitignore").exists()


async def test_an_environment_is_there_once_it_is_finished(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf")
    assert not await is_there(shelf, "key")
    await put(shelf, "key")
    async with shelf.lent("key") as place:
        assert place is not None
        assert (place / "content").is_file()
    async with shelf.making("key") as site:
        assert site is None


async def test_what_was_not_finished_is_not_there_and_leaves_nothing(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    async with shelf.making("key") as site:
        assert site is not None
        (site / "half").write_text("half")
    assert not await is_there(shelf, "key")
    assert names(tmp_path) == {"key.lock"}


async def test_a_killed_builder_leaves_nothing_that_counts_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    backend = Path(__file__).parents[4]
    killed = await anyio.run_process(
        [sys.executable, "-c", KILLED_BUILDER, str(tmp_path)],
        env={"PYTHONPATH": str(backend), "PATH": os.environ["PATH"]},
        check=False,
        stderr=subprocess.STDOUT,
    )
    assert killed.returncode == -9, killed.stdout
    shelf = Shelf(tmp_path)
    assert names(tmp_path, ".building-key-*/*") == {"half"}
    assert not await is_there(shelf, "key")
    await put(shelf, "key")
    assert await is_there(shelf, "key")
    assert not names(tmp_path, ".building*")


@pytest.mark.parametrize("fails", [False, True])
async def test_many_who_want_the_same_share_one_build_and_its_failure(tmp_path: Path, fails: bool) -> None:
    shelf, builds, outcomes = Shelf(tmp_path), list[Path](), list[str]()
    everybody_waits = anyio.Event()

    async def build(site: Path) -> None:
        builds.append(site)
        await everybody_waits.wait()
        if fails:
            raise ValueError("no such package")
        (site / "file").touch()

    async def want() -> None:
        try:
            async with shelf.built("key", build) as lent:
                outcomes.extend(names(lent.place, "*"))
        except ValueError as error:
            outcomes.append(str(error))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(want)
        await anyio.wait_all_tasks_blocked()
        everybody_waits.set()
    assert len(builds) == 1
    assert outcomes == (["no such package"] if fails else ["file"]) * 8


async def test_a_failed_build_is_tried_again_by_who_asks_later(tmp_path: Path) -> None:
    shelf, builds = Shelf(tmp_path), list[Path]()

    async def build(site: Path) -> None:
        builds.append(site)
        if len(builds) == 1:
            raise ValueError("the registry is away")

    with pytest.raises(ValueError, match="the registry is away"):
        async with shelf.built("key", build):
            pytest.fail("there is nothing to lend")
    async with shelf.built("key", build) as lent:
        assert lent.seconds > 0
    async with shelf.built("key", build) as lent:
        assert lent.seconds == 0
    assert len(builds) == 2
    assert not names(tmp_path, ".building*")


async def test_the_least_recently_used_go_first_and_none_that_is_lent(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, ShelfLimits(size=25_000, age=1e12))
    for number, key in enumerate(("oldest", "lent", "newer", "newest"), start=1):
        await put(shelf, key, size=12_000, used=1000.0 * number)
    async with shelf.lent("lent") as place:
        os.utime(shelf.root / "lent.lock", (1, 1))
        await shelf.trim()
        assert place is not None
        assert place.is_dir()
        assert names(tmp_path, directories=True) == {"lent", "newer", "newest"}
    os.utime(shelf.root / "lent.lock", (1, 1))
    await shelf.trim()
    assert names(tmp_path) == {"newer", "newer.lock", "newest", "newest.lock"}


async def test_what_is_unused_for_long_goes_and_use_is_remembered(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, ShelfLimits(age=1000.0))
    await put(shelf, "unused", used=1000.0)
    await put(shelf, "used", used=1000.0)
    assert await is_there(shelf, "used")
    await shelf.trim()
    assert not await is_there(shelf, "unused")
    assert await is_there(shelf, "used")
    assert shelf.contents()[0] == 1


async def test_remains_of_killed_builders_are_trimmed_but_not_what_is_being_built(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    (tmp_path / ".building-dead-1234").mkdir()
    (tmp_path / ".removing-1234").mkdir()
    async with shelf.making("alive") as site:
        await shelf.trim()
        assert site is not None
        assert site.is_dir()
    assert names(tmp_path, directories=True) == set()
