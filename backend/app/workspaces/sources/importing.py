"""Imports a source into a run's repository: its files as one base commit, without earlier history."""

import tempfile
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.schemas.workspaces import ArchiveSource, EmptySource, GitSource, LocalSource, WorkspaceSource
from app.workspaces.history.git import GitTarget, reason
from app.workspaces.history.repository import RunRepository
from app.workspaces.process import BytesOutcome
from app.workspaces.sources.archive import unpack
from app.workspaces.sources.filling import fill_in
from app.workspaces.sources.inspection import (
    SourcePolicy,
    check_file_url,
    check_remote_ref,
    check_url,
    require_archive,
    without_password,
)
from app.workspaces.sources.local import locate
from app.workspaces.sources.local_parts import LocalPlace
from app.workspaces.sources.remote import Remote, prepare_fetch
from app.workspaces.together import together

_FETCH = ["fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]
_FETCHED = "refs/phaserunner/fetched"
_DESCRIBE_SECONDS = 10.0
_INCOMPLETE = (
    "is a partial clone that lacks files of this commit: get them with `git fetch --refetch --no-filter`"
)


async def import_source(source: WorkspaceSource, repo: RunRepository, policy: SourcePolicy) -> str:
    """Recreate `repo` from a source. Return its base commit.

    A local or remote repository keeps the id of its commit, so that results attach to its history. Empty and
    archive sources get a commit that depends on the files only. Submodules and files in LFS are included if
    the repository's `phaserunner.toml` asks for them.

    Raises:
        InvalidInputError: a value cannot be used. The error names the field.
        WorkspaceError: the source cannot be reached or read, or is larger than the limits.
    """
    match source:
        case EmptySource():
            base = await _commit_directory(repo, None, strip_top_level=False)
        case ArchiveSource():
            base = await _commit_directory(
                repo, require_archive(source), strip_top_level=source.strip_top_level
            )
        case LocalSource():
            base, place = await _import_local(source, repo, policy)
            await repo.check_limits(base, "source.path")
            await fill_in(repo, base, place, policy)
        case GitSource():
            base = await _import_remote(source, repo, policy)
            await repo.check_limits(base, "source.url")
            await fill_in(repo, base, source, policy)
    await repo.close_history_at(base)
    return base


async def _import_local(
    source: LocalSource, repo: RunRepository, policy: SourcePolicy
) -> tuple[str, LocalPlace]:
    found = await locate(source, policy.allowed_roots, repo.git)
    await repo.create("sha1" if len(found.commit) == 40 else "sha256")
    outcome, described = await together(
        repo.git.attempt(
            [*_FETCH, "--", str(found.store), found.commit],
            repo.target,
            env={"GIT_ALLOW_PROTOCOL": "file"},
            timeout=policy.fetch_seconds,
        ),
        repo.git.attempt(
            ["describe", "--tags", "--long", "--match=*[0-9]*", found.commit],
            GitTarget(found.store),
            timeout=_DESCRIBE_SECONDS,
        ),
    )
    if outcome.returncode != 0 or outcome.timed_out:
        lacks_files = "promisor remote" in outcome.stderr
        told = _INCOMPLETE if lacks_files else f"cannot be read: {reason(outcome)}"
        raise WorkspaceError(f"{source.path} {told}", field="source.path")
    if described.returncode == 0:
        await repo.note_description(described.stdout.decode("utf-8", "replace").strip())
    stores = tuple(dict.fromkeys((found.store, found.git_dir)))
    return found.commit, LocalPlace(stores, None if found.bare else found.top, policy.allowed_roots)


async def _import_remote(source: GitSource, repo: RunRepository, policy: SourcePolicy) -> str:
    check_url(source.url, policy)
    check_remote_ref(source.ref)
    if source.url.startswith("file:"):
        await anyio.to_thread.run_sync(check_file_url, source.url, policy)
    remote = await prepare_fetch(source, repo.git.transport_env, policy)
    outcome = await _fetched(repo, remote, source.ref or "HEAD", policy)
    if "mismatched algorithms" in outcome.stderr:
        outcome = await _fetched(repo, remote, source.ref or "HEAD", policy, "sha256")
    if outcome.returncode != 0 or outcome.timed_out:
        why = reason(outcome)
        if "remote ref" in why and source.ref is not None:
            raise WorkspaceError(f"{source.ref!r} is not there: {why}", field="source.ref")
        raise WorkspaceError(f"{without_password(source.url)} cannot be fetched: {why}", field="source.url")
    found = await repo.git.run(["rev-parse", "--verify", "-q", f"{_FETCHED}^{{commit}}"], repo.target)
    return found.decode().strip()


async def _fetched(
    repo: RunRepository, remote: Remote, ref: str, policy: SourcePolicy, object_format: str = "sha1"
) -> BytesOutcome:
    await repo.create(object_format)
    return await repo.git.attempt(
        [*_FETCH, "--", remote.url, f"+{ref}:{_FETCHED}"],
        repo.target,
        env=remote.env,
        timeout=policy.fetch_seconds,
    )


async def _commit_directory(repo: RunRepository, archive: bytes | None, *, strip_top_level: bool) -> str:
    await repo.create()
    with tempfile.TemporaryDirectory(dir=repo.path.parent, prefix="import-") as name:
        root = Path(name) / "tree"
        await anyio.to_thread.run_sync(root.mkdir)
        message = "Start from nothing"
        if archive is not None:
            message = "Start from an archive"
            await anyio.to_thread.run_sync(unpack, archive, root, repo.limits)
            if strip_top_level:
                root = await anyio.to_thread.run_sync(_only_directory, root)
        outcome = await repo.commit_tree(root, None, message)
    return outcome.commit


def _only_directory(root: Path) -> Path:
    inside = list(root.iterdir())
    if len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink():
        return inside[0]
    return root
