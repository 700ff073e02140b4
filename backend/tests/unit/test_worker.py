"""The file by which probes of containers see that a worker runs."""

import asyncio
import os
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.worker import renewing

pytestmark = pytest.mark.anyio


async def test_the_file_is_renewed_while_the_worker_runs(tmp_path: Path) -> None:
    path = tmp_path / "alive"
    async with renewing(path, 0.01):
        os.utime(path, (0, 0))
        while path.stat().st_mtime == 0:  # noqa: ASYNC110 - a file tells nobody that it changed
            await asyncio.sleep(0.01)
    assert not path.exists()


async def test_without_a_file_nothing_is_written(tmp_path: Path) -> None:
    async with renewing(None, 0.01):
        assert os.listdir(tmp_path) == []


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be written") as caught:
        async with renewing(tmp_path / "away" / "alive", 1.0):
            pass
    assert caught.value.field == "WORKER_ALIVE_FILE"
