"""Copies a loop's workspace, with the director's output in it, for the script and the evaluators."""

import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from app.agents.files import WorkspaceFiles


@asynccontextmanager
async def copied_tree(workspace: Path | None, files: Mapping[str, str]) -> AsyncGenerator[Path]:
    """Yield a fresh copy of a workspace, or an empty directory; it is removed when the block is left.

    Args:
        workspace: what is copied; None is nothing.
        files: written into the copy, by path.

    Raises:
        FileRefusedError: a file cannot be written where it says; the message names it.
        OSError: there is no room, or the workspace cannot be read.
    """
    place = Path(await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix="loop-")))
    try:
        yield await anyio.to_thread.run_sync(_prepare, place, workspace, files)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(place, ignore_errors=True))


def _prepare(place: Path, workspace: Path | None, files: Mapping[str, str]) -> Path:
    work = place / "work"
    if workspace is None:
        work.mkdir()
    else:
        shutil.copytree(workspace, work, symlinks=True)
    writer = WorkspaceFiles(work)
    for path, text in files.items():
        writer.write(path, text)
    # The sandbox runs programs as another user when this service is root.
    place.chmod(0o755)
    return work
