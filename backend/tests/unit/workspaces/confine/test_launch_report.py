"""What bubblewrap reports about a launch: its end is the end of everything inside."""

import os
import subprocess

import anyio
import pytest

from app.workspaces.confine.launch_report import LaunchReport

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("end", [b"", b'{ "exit-code": 0 }\n'], ids=["killed", "ended by itself"])
async def test_the_end_waits_for_the_first_process_inside(end: bytes) -> None:
    with LaunchReport() as report, subprocess.Popen(["sleep", "600"]) as first:  # noqa: ASYNC220 - starts at once
        os.write(report.writing, b'{ "child-pid": %d }\n' % first.pid + end)
        ended = anyio.Event()

        async def wait() -> None:
            await report.wait_for_end()
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            waited = not ended.is_set()
            first.kill()
        assert waited
        assert ended.is_set()
