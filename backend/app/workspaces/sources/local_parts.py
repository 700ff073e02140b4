"""Finds a local repository's submodules and LFS files where git stores them, without a network."""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.workspaces.history.git import reason
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.repository_files import check_repository_files

_FETCH = ["fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]
_FETCHED = "refs/phaserunner/submodule"
_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """The git directory of a repository on this machine, and the directories within which it must stay."""

    store: Path
    allowed_roots: Sequence[Path] = ()

    async def fetch(self, repo: RunRepository, name: str, url: str, commit: str) -> "LocalPlace":
        """Copy the commit from where `git submodule update` stored it. `url` is not used."""
        del url
        inside = Path("modules", name)
        store = self.store / inside
        if ".." in inside.parts or Path(name).is_absolute() or not await anyio.Path(store).is_dir():
            raise WorkspaceError("it is not there: run `git submodule update --init --recursive`")
        await anyio.to_thread.run_sync(check_repository_files, str(store), store, self.allowed_roots)
        command = [*_FETCH, "--", str(store), f"+{commit}:{_FETCHED}"]
        env = {"GIT_ALLOW_PROTOCOL": "file"}
        outcome = await repo.git.attempt(command, repo.target, env=env, timeout=_SECONDS)
        if outcome.returncode != 0 or outcome.timed_out:
            raise WorkspaceError(f"{reason(outcome)}; run `git submodule update --init --recursive`")
        return LocalPlace(store, self.allowed_roots)

    async def objects(self, repo: RunRepository, oids: Sequence[str], place: Path) -> Mapping[str, str]:
        """Copy objects from where `git lfs pull` stored them. Return the blob id of each.

        Args:
            repo: gets the blobs.
            oids: SHA-256 of each object.
            place: a directory for copies, which is removed afterwards.

        Raises:
            WorkspaceError: an object is missing, or differs from its pointer.
        """
        found: dict[str, str] = {}
        for oid in oids:
            kept = self.store / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
            copy = place / oid
            if await anyio.to_thread.run_sync(_copy, kept, copy) != oid:
                raise WorkspaceError(f"LFS has no object {oid[:12]} here: run `git lfs pull`")
            made = await repo.git.run(["hash-object", "-w", "--no-filters", "--", str(copy)], repo.target)
            found[oid] = made.decode().strip()
        return found


def _copy(kept: Path, copy: Path) -> str | None:
    """Copy a file that is not a link and is not behind one. Return its SHA-256."""
    if not kept.is_file() or kept.resolve() != kept:
        return None
    shutil.copyfile(kept, copy)
    with copy.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
