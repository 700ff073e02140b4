"""Sandboxes with small bounds, one for each means of confinement that works here, and a workspace."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from app.schemas.modes import ConfinementKind
from app.workspaces.confine.bubblewrap import SandboxLimits
from app.workspaces.confine.confinement import ContainerSettings, SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from tests.unit.workspaces.confine.containers import EngineHere, engine_here

LIMITS = SandboxLimits(memory_bytes=500_000_000, temporary_bytes=500_000_000, processes=64)


@pytest.fixture(scope="session")
def engine() -> Generator[EngineHere]:
    """Podman with a store of its own; the tests that need it are skipped where it is not."""
    with engine_here() as found:
        yield found


@pytest.fixture(scope="module", params=[ConfinementKind.BUBBLEWRAP, ConfinementKind.CONTAINER])
async def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    kind = request.param
    containers = ContainerSettings()
    if kind is ConfinementKind.CONTAINER:
        containers = request.getfixturevalue("engine").settings
    sandbox = Sandbox(SandboxSettings(limits=LIMITS, kind=kind, containers=containers))
    state = await sandbox.state()
    is_needed = kind is ConfinementKind.BUBBLEWRAP and os.environ.get("CI")
    if not state.confined and not is_needed:
        pytest.skip(state.detail)
    assert state.confined, state.detail
    assert state.name == kind.value
    return sandbox


@pytest.fixture
def place(tmp_path: Path) -> Path:
    workspace = tmp_path / "a workspace, with signs"
    workspace.mkdir()
    (workspace / "here.txt").write_text("here")
    return workspace
