"""A process with streams: what it is fed and says, and that nothing of it is left after the block."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from app.workspaces.streaming import StreamingProcess, start_process
from tests.patience import PATIENCE
from tests.unit.workspaces.test_process import ENV, SH, wait_for_file, wait_until_gone

pytestmark = pytest.mark.anyio


async def test_it_answers_line_by_line(tmp_path: Path) -> None:
    async with start_process([SH, "-c", "while read x; do echo got $x; done"], cwd=tmp_path, env=ENV) as one:
        for word in (b"a", b"b"):
            one.stdin.write(word + b"\n")
            assert await one.stdout.readline() == b"got " + word + b"\n"
        one.stdin.close()
        assert await one.wait() == 0
        assert await one.stdout.read() == b""


async def test_the_block_ends_the_whole_group(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 1000 & echo $! > child; sleep 1000"
    async with start_process([SH, "-c", script], cwd=tmp_path, env=ENV):
        child = int(await wait_for_file(tmp_path / "child"))
    await wait_until_gone(child)


async def test_the_output_ends_with_the_process_although_another_session_holds_it(tmp_path: Path) -> None:
    script = "setsid sleep 1000 & echo $! > child; echo done"
    async with start_process([SH, "-c", script], cwd=tmp_path, env=ENV) as one:
        child = int(await wait_for_file(tmp_path / "child"))
        waiting = asyncio.create_task(one.wait())
        try:
            assert await one.stdout.read() == b"done\n"
            assert await waiting == 0
        finally:
            os.kill(child, signal.SIGKILL)


async def test_term_comes_first_and_kill_after_the_grace(tmp_path: Path) -> None:
    polite = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
    async with start_process([SH, "-c", polite], cwd=tmp_path, env=ENV) as one:
        await one.stdout.readline()
        assert await one.terminate(PATIENCE) == 5
        assert await one.stdout.read() == b"bye\n"
    deaf = "trap '' TERM; echo ready; while :; do sleep 0.01; done"
    async with start_process([SH, "-c", deaf], cwd=tmp_path, env=ENV) as one:
        await one.stdout.readline()
        assert await one.terminate(0.05) == -9
        assert await one.terminate(0.05) == -9, "a second end is no error"


async def test_standard_error_is_kept_in_bounds_and_holds_nothing_up(tmp_path: Path) -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' e >&2; echo done"
    async with start_process([SH, "-c", script], cwd=tmp_path, env=ENV) as one:
        assert await one.stdout.readline() == b"done\n"
        await one.wait()
        assert 60_000 < len(one.stderr()) < 70_000
        assert "[output cut here]" in one.stderr()


async def test_a_line_beyond_the_limit_is_an_error_and_takes_no_memory(tmp_path: Path) -> None:
    async with start_process(
        [SH, "-c", "head -c 5000000 /dev/zero | tr '\\0' x"], cwd=tmp_path, env=ENV, line_limit=10_000
    ) as one:
        with pytest.raises(ValueError, match="limit"):
            await one.stdout.readline()


async def test_input_that_is_never_read_does_not_hold_up_the_end(tmp_path: Path) -> None:
    async with start_process([SH, "-c", "sleep 1000"], cwd=tmp_path, env=ENV) as one:
        one.stdin.write(b"x" * 1_000_000)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await one.stdin.drain()


@pytest.mark.parametrize(
    ("program", "error"),
    [
        pytest.param("nowhere", FileNotFoundError, id="missing"),
        pytest.param("plain", PermissionError, id="file"),
    ],
)
async def test_what_cannot_be_started_is_an_error_and_leaks_nothing(
    tmp_path: Path, program: str, error: type[OSError]
) -> None:
    (tmp_path / "plain").write_text("text")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(error):
        async with start_process([str(tmp_path / program)], cwd=tmp_path, env=ENV):
            pass
    await asyncio.sleep(0)
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_cancelling_ends_it(tmp_path: Path) -> None:
    started: list[StreamingProcess] = []

    async def work() -> None:
        script = "echo $$ > pid; sleep 1000"
        async with start_process([SH, "-c", script], cwd=tmp_path, env=ENV) as one:
            started.append(one)
            await one.wait()

    task = asyncio.create_task(work())
    pid = int(await wait_for_file(tmp_path / "pid"))
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    await wait_until_gone(pid)
