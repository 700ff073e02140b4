"""Gives an agent a temporary home directory, and removes the files that it leaves behind."""

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Sequence, Set
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread

_PREFIX = "phaserunner-home-"


@asynccontextmanager
async def own_home(workspace: Path, leavings: Sequence[str]) -> AsyncGenerator[Path]:
    """Yield an empty home directory. Remove it afterwards, with the agent's leftovers in the workspace.

    Args:
        workspace: where the agent works.
        leavings: patterns of files that belong to the agent, not to its work. Earlier files stay.
    """
    # Created without a thread: a cancellation while waiting for one would leave a directory without an owner.
    home = _make()
    try:
        async with tidied(workspace, leavings):
            yield home
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove, home)


@asynccontextmanager
async def tidied(
    workspace: Path, leavings: Sequence[str], before: Set[Path] | None = None
) -> AsyncGenerator[None]:
    """Remove the agent's leftovers from the workspace at the end of the block.

    Args:
        workspace: where the agent works.
        leavings: patterns of files that belong to the agent, not to its work. Earlier files stay.
        before: the earlier files that match, relative to the workspace; None looks for them now.
    """
    if before is None:
        before = await anyio.to_thread.run_sync(matches, workspace, leavings)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_tidy, workspace, leavings, before)


def _make() -> Path:
    return Path(tempfile.mkdtemp(prefix=_PREFIX))


def matches(workspace: Path, patterns: Sequence[str]) -> set[Path]:
    """Return the paths that match one of the patterns, relative to the workspace."""
    return {found.relative_to(workspace) for pattern in patterns for found in workspace.glob(pattern)}


def _tidy(workspace: Path, patterns: Sequence[str], before: Set[Path]) -> None:
    for path in (workspace / each for each in matches(workspace, patterns) - before):
        if path.is_dir() and not path.is_symlink():
            remove(path)
        else:
            with suppress(OSError):
                path.unlink()


def remove(directory: Path) -> None:
    """Remove a directory and everything in it, even if permissions were removed."""
    shutil.rmtree(directory, ignore_errors=True)
    if not directory.exists():
        return
    # An agent may have removed its own permissions, and thereby ours.
    for place, names, _ in os.walk(directory):
        for each in (place, *(os.path.join(place, name) for name in names)):
            with suppress(OSError):
                if not os.path.islink(each):
                    os.chmod(each, 0o700)
    shutil.rmtree(directory, ignore_errors=True)
