"""A child process is bounded in every direction and leaves no group behind."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from app.workspaces.process import ProcessOutcome, run_for_bytes, run_process
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
SH = "/bin/sh"


async def shell(script: str, tmp_path: Path, timeout: float = 30.0, **options: object) -> ProcessOutcome:
    return await run_process([SH, "-c", script], cwd=tmp_path, env=ENV, timeout=timeout, **options)  # type: ignore[arg-type]


def poll(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


async def wait_for_file(path: Path) -> str:
    await anyio.to_thread.run_sync(poll, lambda: path.exists() and path.read_text().strip())
    return path.read_text().strip()  # noqa: ASYNC240


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


async def wait_until_gone(pid: int) -> None:
    await anyio.to_thread.run_sync(poll, lambda: not is_running(pid))


async def test_gives_status_and_both_streams(tmp_path: Path) -> None:
    outcome = await shell("echo out; echo err >&2; exit 3", tmp_path)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (3, "out\n", "err\n")
    assert not outcome.timed_out
    assert not outcome.truncated


async def test_gives_the_signal_that_ended_it(tmp_path: Path) -> None:
    outcome = await shell("kill -TERM $$", tmp_path)
    assert outcome.returncode == -15


async def test_environment_is_exactly_what_is_given(tmp_path: Path) -> None:
    outcome = await run_process(
        [sys.executable, "-I", "-c", "import os; print(sorted(os.environ))"],
        cwd=tmp_path,
        env={"ONLY": "this", "LC_CTYPE": "C.UTF-8"},
        timeout=PATIENCE,
    )
    assert outcome.stdout == "['LC_CTYPE', 'ONLY']\n"


async def test_stdin_arrives_whole_and_without_stdin_there_is_nothing(tmp_path: Path) -> None:
    data = b"0123456789abcdef" * 100_000
    counted = await run_process(["wc", "-c"], cwd=tmp_path, env=ENV, timeout=PATIENCE, stdin=data)
    assert counted.stdout.strip() == str(len(data))
    assert (await run_process(["cat"], cwd=tmp_path, env=ENV, timeout=PATIENCE)).stdout == ""


async def test_a_child_that_does_not_read_its_stdin_is_no_problem(tmp_path: Path) -> None:
    outcome = await run_process(["true"], cwd=tmp_path, env=ENV, timeout=PATIENCE, stdin=b"x" * 1_000_000)
    assert outcome.returncode == 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_output_keeps_head_and_tail_within_the_limit(tmp_path: Path, stream: str) -> None:
    script = "print('first'); print('x' * 1_000_000); print('last')"
    if stream == "stderr":
        script = "import sys; sys.stdout = sys.stderr; " + script
    outcome = await run_process(
        [sys.executable, "-I", "-c", script], cwd=tmp_path, env=ENV, timeout=PATIENCE, output_limit=1000
    )
    kept = getattr(outcome, stream)
    assert outcome.truncated
    assert kept.startswith("first\n")
    assert kept.endswith("last\n")
    assert "[output cut here]" in kept
    assert len(kept) < 1100


async def test_output_of_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    outcome = await shell("printf 0123456789", tmp_path, output_limit=10)
    assert (outcome.stdout, outcome.truncated) == ("0123456789", False)


async def test_endless_output_ends_at_the_deadline(tmp_path: Path) -> None:
    outcome = await run_process(["yes"], cwd=tmp_path, env=ENV, timeout=0.3, output_limit=1000)
    assert outcome.timed_out
    assert outcome.truncated
    assert outcome.returncode == -9


async def test_output_that_is_not_text_is_kept_readable(tmp_path: Path) -> None:
    assert (await shell(r"printf 'a\377b'", tmp_path)).stdout == "a\ufffdb"


async def test_bytes_are_kept_from_the_start(tmp_path: Path) -> None:
    argv = [SH, "-c", r"printf '\000\377ab'; echo why >&2"]
    whole = await run_for_bytes(argv, cwd=tmp_path, env=ENV, timeout=PATIENCE, output_limit=100)
    assert (whole.stdout, whole.truncated, whole.stderr) == (b"\0\xffab", False, "why\n")
    cut = await run_for_bytes(argv, cwd=tmp_path, env=ENV, timeout=PATIENCE, output_limit=3)
    assert (cut.stdout, cut.truncated) == (b"\0\xffa", True)


async def test_descendants_die_with_the_deadline(tmp_path: Path) -> None:
    outcome = await shell("sleep 300 & echo $! > child; wait", tmp_path, timeout=0.5)
    assert outcome.timed_out
    await wait_until_gone(int(await wait_for_file(tmp_path / "child")))


async def test_descendants_die_with_their_leader(tmp_path: Path) -> None:
    outcome = await shell("sleep 300 & echo $! > child; exit 0", tmp_path)
    assert (outcome.returncode, outcome.timed_out) == (0, False)
    await wait_until_gone(int(await wait_for_file(tmp_path / "child")))


async def test_descendants_die_when_a_task_is_cancelled(tmp_path: Path) -> None:
    task = asyncio.create_task(shell("sleep 300 & echo $! > child; wait", tmp_path))
    child = int(await wait_for_file(tmp_path / "child"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await wait_until_gone(child)


async def test_descendants_die_when_a_scope_is_cancelled(tmp_path: Path) -> None:
    finished = False
    async with anyio.create_task_group() as group:

        async def work() -> None:
            nonlocal finished
            await shell("sleep 300 & echo $! > child; wait", tmp_path)
            finished = True

        group.start_soon(work)
        child = int(await wait_for_file(tmp_path / "child"))
        group.cancel_scope.cancel()
    assert not finished
    await wait_until_gone(child)


async def test_a_daemon_that_holds_the_pipes_holds_nothing_up(tmp_path: Path) -> None:
    # The child leaves the group and keeps both pipes open; the leader ends once it has done so.
    script = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    open('daemon', 'w').write(str(os.getpid()))\n"
        "    time.sleep(300)\n"
        "while not os.path.exists('daemon') or not open('daemon').read(): time.sleep(0.01)\n"
        "print('done', flush=True)\n"
    )
    started = time.monotonic()
    outcome = await run_process([sys.executable, "-I", "-c", script], cwd=tmp_path, env=ENV, timeout=PATIENCE)
    daemon = int(await wait_for_file(tmp_path / "daemon"))
    try:
        assert (outcome.returncode, outcome.stdout, outcome.timed_out) == (0, "done\n", False)
        assert is_running(daemon)
        assert time.monotonic() - started < 150  # it did not wait for the daemon
    finally:
        with suppress(ProcessLookupError):
            os.kill(daemon, 9)


async def test_a_missing_program_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_process(["no-such-program"], cwd=tmp_path, env=ENV, timeout=PATIENCE)


async def test_a_missing_directory_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_process(["true"], cwd=tmp_path / "gone", env=ENV, timeout=PATIENCE)


async def test_a_file_that_is_no_program_is_said_so(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with pytest.raises(PermissionError):
        await run_process([str(plain)], cwd=tmp_path, env=ENV, timeout=PATIENCE)


async def test_no_handle_stays_open(tmp_path: Path) -> None:
    await shell("true", tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for script in ("echo x", "exit 1", "sleep 300"):
        await shell(script, tmp_path, timeout=0.3)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_passed_handles_reach_the_child(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    try:
        script = f"import os; os.write({write_end}, b'through')"
        argv = [sys.executable, "-I", "-c", script]
        await run_process(argv, cwd=tmp_path, env=ENV, timeout=PATIENCE, pass_fds=(write_end,))
        assert os.read(read_end, 100) == b"through"
    finally:
        os.close(read_end)
        os.close(write_end)


async def test_other_processes_go_first_if_asked(tmp_path: Path) -> None:
    own = os.nice(0)
    outcome = await shell(
        f"until [ $(nice) = {own + 2} ]; do sleep 0.02; done", tmp_path, PATIENCE, niceness=2
    )
    assert (outcome.returncode, outcome.timed_out) == (0, False)
