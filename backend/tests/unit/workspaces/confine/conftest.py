"""A sandbox with small bounds, and a workspace for it."""

import os
from pathlib import Path

import pytest

from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox


@pytest.fixture(scope="module")
async def sandbox() -> Sandbox:
    sandbox = Sandbox(
        SandboxSettings(
            limits=SandboxLimits(memory_bytes=500_000_000, temporary_bytes=500_000_000, processes=64)
        )
    )
    state = await sandbox.state()
    if not state.confined and not os.environ.get("CI"):
        pytest.skip(state.detail)
    assert state.confined, state.detail
    return sandbox


@pytest.fixture
def place(tmp_path: Path) -> Path:
    workspace = tmp_path / "a workspace, with signs"
    workspace.mkdir()
    (workspace / "here.txt").write_text("here")
    return workspace
