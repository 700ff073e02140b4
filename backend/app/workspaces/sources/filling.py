"""Fetches the files to which a commit only refers, if its `phaserunner.toml` asks for them."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.project_file import PROJECT_FILE, SourceTable
from app.schemas.workspaces import GitSource
from app.workspaces.history.filling import Filler, make_filling, named_by
from app.workspaces.history.notes import read_notes
from app.workspaces.history.repository import RunRepository
from app.workspaces.history.withheld import TreeEntry, entries_of
from app.workspaces.sources.asked_parts import MAX_BYTES, asked_by
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.lfs_pointers import pointers_in
from app.workspaces.sources.local_parts import LocalPlace
from app.workspaces.sources.submodules import RemotePlace, submodules_of

_SUBMODULE = b"160000"


async def fill_in(
    repo: RunRepository, commit: str, source: GitSource | LocalPlace, policy: SourcePolicy
) -> None:
    """Fetch the files that a commit asks for, so that its checkouts and those of later commits have them.

    Args:
        repo: has the commit, and gets the files.
        commit: its project file says what to fetch.
        source: where the commit comes from.
        policy: which sources and credentials are allowed.

    Raises:
        InvalidInputError, WorkspaceError: something cannot be fetched or is too large. The message says what.
    """
    asked = await _asked(repo, commit)
    if not (asked.submodules or asked.lfs) or await _is_filled(repo, commit, asked):
        return
    place = source if isinstance(source, LocalPlace) else RemotePlace(source, policy)
    field = "source.path" if isinstance(source, LocalPlace) else "source.url"
    try:
        fillers = await submodules_of(repo, commit, place) if asked.submodules else []
        fillers += await _kept_in_lfs(repo, commit, place) if asked.lfs else []
    except (InvalidInputError, WorkspaceError) as error:
        raise type(error)(error.detail, field=field) from error
    if not fillers:
        return
    with tempfile.TemporaryDirectory(dir=repo.path.parent, prefix="filling-") as place:
        filling = await make_filling(repo.git, repo.path, fillers, Path(place) / "index")
    await repo.check_limits(filling, field)
    await repo.note_filling(filling)


async def _kept_in_lfs(repo: RunRepository, commit: str, place: RemotePlace | LocalPlace) -> list[Filler]:
    pointers = await pointers_in(repo, commit)
    if not pointers:
        return []
    sizes = {each.oid: each.size for each in pointers}
    repo.limits.check("what is in LFS", len(sizes), sum(sizes.values()), field=None)
    with tempfile.TemporaryDirectory(dir=repo.path.parent, prefix="lfs-") as name:
        if isinstance(place, LocalPlace):
            blobs = await place.objects(repo, list(sizes), Path(name))
        else:
            from app.workspaces.sources.lfs import fetch_objects  # noqa: PLC0415 - its HTTP client is slow to import

            blobs = await fetch_objects(repo, sizes, place.source, place.policy, Path(name))
    return [Filler(each.entry, blobs[each.oid]) for each in pointers]


async def _asked(repo: RunRepository, commit: str) -> SourceTable:
    return asked_by(await repo.read_file(commit, PROJECT_FILE, MAX_BYTES) or b"")


async def _is_filled(repo: RunRepository, commit: str, asked: SourceTable) -> bool:
    """Return True if the existing filling already has all that a commit asks for."""
    filling = read_notes(repo.path).filling
    if not filling:
        return False
    known = set(await named_by(repo.git, repo.path, filling))
    wanted: Sequence[TreeEntry] = []
    if asked.submodules:
        listing = await repo.git.run(["ls-tree", "-r", "-z", commit], repo.target)
        wanted = [each for each in entries_of(listing) if each.mode == _SUBMODULE]
    if asked.lfs:
        wanted = [*wanted, *(each.entry for each in await pointers_in(repo, commit))]
    return known.issuperset(wanted)
