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
from app.workspaces.sources.submodules import Submodule

_FETCH = ["fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]
_FETCHED = "refs/phaserunner/submodule"
_SECONDS = 120.0
_STEP = "run `git submodule update --init --recursive`"


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """A repository on this machine.

    Attributes:
        stores: its git directories. A linked working tree has two: the common one, and one for itself.
        top: the top of its working tree, without links; None if there is none.
        allowed_roots: the directories within which everything must stay.
    """

    stores: tuple[Path, ...]
    top: Path | None = None
    allowed_roots: Sequence[Path] = ()

    async def fetch(self, repo: RunRepository, module: Submodule, commit: str) -> "LocalPlace":
        """Copy the commit from where git stored the submodule. Its URL is not used."""
        error = WorkspaceError(f"it is not there: {_STEP}")
        for store in await anyio.to_thread.run_sync(self._stores_of, module):
            await anyio.to_thread.run_sync(check_repository_files, str(store), store, self.allowed_roots)
            command = [*_FETCH, "--", str(store), f"+{commit}:{_FETCHED}"]
            env = {"GIT_ALLOW_PROTOCOL": "file"}
            outcome = await repo.git.attempt(command, repo.target, env=env, timeout=_SECONDS)
            if outcome.returncode == 0 and not outcome.timed_out:
                top = self.top / module.path if self.top is not None else None
                return LocalPlace((store,), top, self.allowed_roots)
            error = WorkspaceError(f"{reason(outcome)}; {_STEP}")
        raise error

    def _stores_of(self, module: Submodule) -> list[Path]:
        """Return the git directories that a submodule may have.

        A submodule that was added from an existing clone keeps its own in the working tree.
        """
        inside = Path("modules", module.name)
        places: list[Path] = []
        if ".." not in inside.parts and not Path(module.name).is_absolute():
            places += [store / inside for store in self.stores]
        if self.top is not None and not Path(module.path).is_absolute():
            places.append(self.top / module.path / ".git")
        return [each for each in places if each.is_dir() and each.resolve() == each]

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
            kept = [each / "lfs" / "objects" / oid[:2] / oid[2:4] / oid for each in self.stores]
            copy = place / oid
            if oid not in [await anyio.to_thread.run_sync(_copy, each, copy) for each in kept]:
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
