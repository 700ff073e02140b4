"""Makes separate copies of a directory, so that several agents can work on it at the same time."""

import filecmp
import shutil
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread

from app.agents.files import SKIPPED_DIRECTORIES

_VERSION_CONTROL = ".git"


class DirectoryTrees:
    """Copies directories, without their `.git`.

    Args:
        root: the directory for the copies; None is the system's temporary directory.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    @asynccontextmanager
    async def open(self, workspace: Path, count: int) -> AsyncGenerator[Sequence[Path]]:
        """Yield `count` copies of `workspace`. Remove them at the end of the block.

        Raises:
            OSError: the directory cannot be copied.
        """
        with tempfile.TemporaryDirectory(dir=self._root, prefix="candidates-") as directory:
            copies = [Path(directory, str(index)) for index in range(count)]
            for copy in copies:
                await anyio.to_thread.run_sync(_copy, workspace, copy)
            yield copies

    async def changed_files(self, tree: Path, workspace: Path) -> list[str]:
        """Return the paths that differ between a copy and the original directory, sorted."""
        return await anyio.to_thread.run_sync(_changed, tree, workspace)

    async def adopt(self, tree: Path, workspace: Path) -> None:
        """Replace the directory's content with the copy's. Its `.git` stays.

        Raises:
            OSError: the files cannot be written.
        """
        await anyio.to_thread.run_sync(_mirror, tree, workspace)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(
        source, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(_VERSION_CONTROL)
    )


def _mirror(source: Path, target: Path) -> None:
    for entry in target.iterdir():
        if entry.name == _VERSION_CONTROL:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    _copy(source, target)


def _changed(tree: Path, workspace: Path) -> list[str]:
    one, other = _files(tree), _files(workspace)
    common = {path for path in one & other if filecmp.cmp(tree / path, workspace / path, shallow=False)}
    return sorted((one | other) - common)


def _files(root: Path) -> set[str]:
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if SKIPPED_DIRECTORIES.isdisjoint(path.parts)}
