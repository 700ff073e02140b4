"""Gives an agent a home directory for one piece of work, and tidies up what it leaves."""

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
    """Yield an empty directory; the block removes it, and what the agent left in the workspace.

    Args:
        workspace: where the agent works.
        leavings: patterns of names that are the agent's alone; what was there before stays.
    """
    # Made without waiting: a cancellation meanwhile would leave a directory that nothing knows.
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
    """Remove what the agent left in the workspace with the block.

    Args:
        workspace: where the agent works.
        leavings: patterns of names that are the agent's alone; what was there before stays.
        before: what was there before, below the workspace; None is what is there now.
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
    """Return what fits one of the patterns, as paths below the workspace."""
    return {found.relative_to(workspace) for pattern in patterns for found in workspace.glob(pattern)}


def _tidy(workspace: Path, patterns: Sequence[str], before: Set[Path]) -> None:
    for path in (workspace / each for each in matches(workspace, patterns) - before):
        if path.is_dir() and not path.is_symlink():
            remove(path)
        else:
            with suppress(OSError):
                path.unlink()


def remove(directory: Path) -> None:
    """Remove a directory with all that is in it, also where its rights were taken away."""
    shutil.rmtree(directory, ignore_errors=True)
    if not directory.exists():
        return
    # An agent may have taken away its own rights, and with them ours.
    for place, names, _ in os.walk(directory):
        for each in (place, *(os.path.join(place, name) for name in names)):
            with suppress(OSError):
                if not os.path.islink(each):
                    os.chmod(each, 0o700)
    shutil.rmtree(directory, ignore_errors=True)
