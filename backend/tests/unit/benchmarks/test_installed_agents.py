"""Twenty installed agents at once on one worker: nothing of them stays."""

from pathlib import Path

import logfire
import pytest

from app.workspaces.confine.sandbox import Sandbox
from benchmarks.installed_agents import instant_agent, leftovers_of, scripted_gateway

pytestmark = pytest.mark.anyio


async def test_twenty_agents_at_once_leave_no_process_socket_or_directory(tmp_path: Path) -> None:
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    sandbox = Sandbox()
    state = await sandbox.state()
    if not state.confined:
        pytest.skip(state.detail)
    async with scripted_gateway() as gateway:
        assert await leftovers_of(instant_agent(gateway, sandbox), tmp_path) == 0
