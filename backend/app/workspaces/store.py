"""Stores the files of runs below one directory, and removes them."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

import anyio
import anyio.to_thread

from app.workspaces.files.limits import DEFAULT_LIMITS, WorkspaceLimits
from app.workspaces.files.removal import remove_tree
from app.workspaces.files.sweep import Dropped
from app.workspaces.files.untouched import is_untouched
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.together import together


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two fresh copies that no agent has touched.

    Attributes:
        candidate: the files to judge.
        base: the files to compare them with.
        withheld: entries of the candidate's commit that are not in its copy.
    """

    candidate: Path
    base: Path
    withheld: tuple[Dropped, ...]


class WorkspaceStore:
    """The directory `runs` below a data directory, and a second directory for files of this process only.

    `runs/RUN/repo.git` is a run's history, and `runs/RUN/sessions` holds the conversations of its agents. In
    the second directory, `attempts/RUN-CLAIM/N/tree` is the tree in which candidate N of an attempt works,
    and `judged/RUN-…` holds copies while they are judged.

    Args:
        root: the data directory.
        git: the git program.
        limits: limits on each tree.
        scratch: the second directory, on the same file system; by default `scratch` below the data directory.
    """

    def __init__(
        self, root: Path, git: Git, limits: WorkspaceLimits = DEFAULT_LIMITS, scratch: Path | None = None
    ) -> None:
        self._root = root.absolute()
        self._runs = self._root / "runs"
        self._scratch = (scratch or root / "scratch").absolute()
        self._git = git
        self._limits = limits

    def repository(self, run_id: UUID) -> RunRepository:
        """Return the run's repository, which may not exist yet."""
        return RunRepository(self._git, self._run(run_id) / "repo.git", self._limits)

    async def restore(self, run_id: UUID, base_bundle: bytes) -> None:
        """Create a run's repository from its base's bundle. Another process may do so at the same time.

        Raises:
            WorkspaceError: the data is not a bundle, or damaged.
        """
        fresh = self._scratch / "restoring" / str(uuid4())
        try:
            await RunRepository(self._git, fresh, self._limits).restore(base_bundle)
            await anyio.to_thread.run_sync(_settle, fresh, self.repository(run_id).path)
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(fresh)

    def tree(self, run_id: UUID, claim: UUID, candidate: int = 0) -> Path:
        """Return the path of a candidate's working tree. Nothing is created."""
        return self._claim(run_id, claim) / str(candidate) / "tree"

    def tree_at_work(self, run_id: UUID, claim: UUID, candidate: int) -> Path | None:
        """Return the working tree in which an agent of this process works, or None."""
        tree = self.tree(run_id, claim, candidate)
        return tree if tree.is_dir() else None

    @asynccontextmanager
    async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
        """Yield fresh copies of a commit and of the base. Remove them at the end of the block.

        Raises:
            GitError: a commit is not in the run's repository.
        """
        repo = self.repository(run_id)
        place = self._scratch / "judged" / f"{run_id}-{uuid4()}"
        try:
            candidate, base = await together(
                repo.checkout(commit, place / "candidate"), repo.checkout_base(base_commit, place / "base")
            )
            yield JudgedPair(candidate.path, base.path, candidate.withheld)
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)

    @asynccontextmanager
    async def importing(self) -> AsyncGenerator[RunRepository]:
        """Yield a repository that no run has yet. The end of the block removes it, unless a run keeps it."""
        scratch = self._scratch / "imports" / str(uuid4())
        try:
            yield RunRepository(self._git, scratch / "repo.git", self._limits)
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(scratch)

    async def keep(self, run_id: UUID, imported: RunRepository) -> None:
        """Move an imported repository to its run. A complete repository that is already there stays.

        Raises:
            OSError: it cannot be moved. The run's repository is then restored when it is needed.
        """
        await anyio.to_thread.run_sync(_settle, imported.path, self.repository(run_id).path)

    def sessions(self, run_id: UUID) -> Path:
        """Return the directory of agents' conversations. Nothing is created."""
        return self._run(run_id) / "sessions"

    async def remove_claim(self, run_id: UUID, claim: UUID) -> None:
        """Delete the working trees of one claim. It is no error if there are none."""
        await remove_tree(self._claim(run_id, claim))

    async def remove_run(self, run_id: UUID) -> None:
        """Delete all files of a run. It is no error if there are none."""
        await remove_tree(self._run(run_id))

    async def runs_on_disk(self) -> list[UUID]:
        """Return the runs that have files here."""
        return await anyio.to_thread.run_sync(_ids_in, self._runs)

    async def untouched_since(self, run_id: UUID, time: datetime) -> bool:
        """Return whether everything in a run's directory is older than a time, the directory included."""
        return await anyio.to_thread.run_sync(is_untouched, self._run(run_id), time.timestamp())

    def _run(self, run_id: UUID) -> Path:
        return self._runs / str(run_id)

    def _claim(self, run_id: UUID, claim: UUID) -> Path:
        return self._scratch / "attempts" / f"{run_id}-{claim}"


def _settle(fresh: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        fresh.rename(place)
    except OSError:
        # Either another import was quicker, or an interrupted one left something unusable.
        if not (place / "shallow").exists():
            shutil.rmtree(place, ignore_errors=True)
            fresh.rename(place)


def _ids_in(directory: Path) -> list[UUID]:
    ids: list[UUID] = []
    try:
        names = sorted(entry.name for entry in directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    for name in names:
        try:
            ids.append(UUID(name))
        except ValueError:  # not ours
            continue
    return ids
