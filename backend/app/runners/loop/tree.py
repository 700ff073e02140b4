"""Copies a loop's workspace, with the director's output in it, for the script and the evaluators."""

import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from app.agents.files import WorkspaceFiles
from app.workspaces.files.temporary import in_thread, temporary_directory


@asynccontextmanager
async def copied_tree(workspace: Path | None, files: Mapping[str, str]) -> AsyncGenerator[Path]:
    """Yield a fresh copy of a workspace, or an empty directory, and remove it at the end of the block.

    Args:
        workspace: the directory to copy; None copies nothing.
        files: written into the copy, by path.

    Raises:
        FileRefusedError: a file cannot be written to its path; the message names it.
        OSError: the disk is full, or the workspace cannot be read.
    """
    async with temporary_directory(lambda: tempfile.mkdtemp(prefix="loop-"), _remove) as place:
        yield await in_thread(_prepare, place, workspace, files)


async def _remove(place: Path) -> None:
    await in_thread(shutil.rmtree, place, ignore_errors=True)


def _prepare(place: Path, workspace: Path | None, files: Mapping[str, str]) -> Path:
    work = place / "work"
    if workspace is None:
        work.mkdir()
    else:
        shutil.copytree(workspace, work, symlinks=True)
    writer = WorkspaceFiles(work)
    for path, text in files.items():
        writer.write(path, text)
    # If this service runs as root, the sandbox runs programs as another user.
    place.chmod(0o755)
    return work
