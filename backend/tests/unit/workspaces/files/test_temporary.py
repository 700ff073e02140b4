"""A temporary directory is removed after the threads that write to it, however its block ends."""

import asyncio
import logging
import threading
from pathlib import Path

import anyio
import pytest

from app.core.errors import WorkspaceError
from app.workspaces.files.removal import remove_tree
from app.workspaces.files.temporary import in_thread, temporary_directory

pytestmark = pytest.mark.anyio


class Writing:
    """Writes two files, the second one only when it is let go."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.may_end = threading.Event()

    def __call__(self, place: Path) -> None:
        (place / "first").touch()
        self.began.set()
        assert self.may_end.wait(60)
        (place / "below").mkdir()
        (place / "below" / "second").touch()


async def _turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("cancellations", [1, 2])
async def test_a_cancelled_block_waits_for_its_thread(tmp_path: Path, cancellations: int) -> None:
    place, writing, removed = tmp_path / "place", Writing(), list[Path]()

    async def remove(made: Path) -> None:
        removed.append(made)
        await remove_tree(made)

    async def block() -> None:
        async with temporary_directory(lambda: place.mkdir() or place, remove) as made:
            await in_thread(writing, made)

    running = asyncio.create_task(block())
    await asyncio.to_thread(writing.began.wait)
    for _ in range(cancellations):
        running.cancel()
        await _turns()
    assert not running.done()
    assert removed == []
    writing.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert removed == [place]
    assert not place.exists()


async def test_a_block_that_is_cancelled_by_a_scope_waits_too(tmp_path: Path) -> None:
    place, writing = tmp_path / "place", Writing()

    async def block() -> None:
        async with temporary_directory(lambda: place.mkdir() or place) as made:
            await in_thread(writing, made)

    async with anyio.create_task_group() as group:
        group.start_soon(block)
        await asyncio.to_thread(writing.began.wait)
        group.cancel_scope.cancel()
        asyncio.get_running_loop().call_later(0, writing.may_end.set)
    assert not place.exists()


async def test_a_directory_that_is_made_too_late_is_removed(tmp_path: Path) -> None:
    place, began, may_end = tmp_path / "place", threading.Event(), threading.Event()

    def make() -> Path:
        began.set()
        assert may_end.wait(60)
        place.mkdir()
        return place

    async def block() -> None:
        async with temporary_directory(make):
            raise AssertionError("cancelled before")

    running = asyncio.create_task(block())
    await asyncio.to_thread(began.wait)
    running.cancel()
    await _turns()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not place.exists()


async def _refuse(place: Path) -> None:
    raise WorkspaceError(f"{place.name} is in use")


async def test_a_failed_removal_replaces_no_other_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for failure in (asyncio.CancelledError(), ValueError()):
        with caplog.at_level(logging.WARNING), pytest.raises(type(failure)):
            async with temporary_directory(lambda: tmp_path, _refuse):
                raise failure
        assert "is in use" in caplog.text
        caplog.clear()
    with pytest.raises(WorkspaceError, match="is in use"):
        async with temporary_directory(lambda: tmp_path, _refuse):
            pass


async def test_a_thread_gives_its_result_or_its_failure() -> None:
    assert await in_thread(int, "12", base=8) == 10
    with pytest.raises(ValueError, match="invalid literal"):
        await in_thread(int, "x")
