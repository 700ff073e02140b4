"""Finds a repository on this machine and reads its state, without running programs from its configuration."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import LocalSource
from app.workspaces.history.git import Git, GitTarget, configuration_with, reason
from app.workspaces.history.refs import check_revision
from app.workspaces.sources.repository_files import check_repository_files

_ANYWHERE = GitTarget(None)
_STATUS_SECONDS = 20.0
_STATUS_BYTES = 4_000_000
_PATH = "source.path"
_BRANCHES = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Located:
    """A local repository.

    Attributes:
        top: top of its working tree, or the repository itself if it is bare.
        store: the directory with its objects.
        git_dir: its git directory; another than `store` if it is a linked working tree.
        commit: the commit that the source's ref names.
        bare: True if it has no working tree.
        has_submodules: True if the commit has a `.gitmodules`.
        is_given_path: False if the path is a directory inside the repository.
    """

    top: Path
    store: Path
    git_dir: Path
    commit: str
    bare: bool
    has_submodules: bool
    is_given_path: bool


async def locate(source: LocalSource, allowed_roots: Sequence[Path], git: Git) -> Located:
    """Find the repository and commit that a source names.

    Raises:
        InvalidInputError: the path or ref cannot be used, or is outside the allowed directories.
        WorkspaceError: it is not a repository, has no commits, or no such commit.
    """
    check_revision(source.ref)
    path = await anyio.to_thread.run_sync(_existing_directory, source.path)
    _check_roots(source.path, path, allowed_roots)
    await anyio.to_thread.run_sync(check_repository_files, source.path, path, allowed_roots)
    asked = ["rev-parse", "--is-bare-repository", "--git-common-dir", "--git-dir", "--show-toplevel"]
    answer = await git.attempt(asked, _ANYWHERE, cwd=path)
    lines = answer.stdout.decode("utf-8", "surrogateescape").splitlines()
    if len(lines) < 3:
        told = "is not a git repository, nor inside one; make one with `git init`, and commit"
        raise WorkspaceError(f"{source.path} {told}", field=_PATH)
    bare = lines[0] == "true"
    store, git_dir = [await anyio.to_thread.run_sync((path / each).resolve) for each in lines[1:3]]
    if not bare and len(lines) != 4:  # as inside `.git`
        raise WorkspaceError(f"{source.path} is not in a working tree: {reason(answer)}", field=_PATH)
    top = store if bare else await anyio.to_thread.run_sync(Path(lines[3]).resolve)
    for place in (top, store, git_dir):  # a `.git` file may point elsewhere
        _check_roots(source.path, place, allowed_roots)
    commit, has_submodules = await _commit_of(source, path, git)
    return Located(top, store, git_dir, commit, bare, has_submodules, is_given_path=path == top)


async def branch_of(found: Located, ref: str, git: Git) -> str | None:
    """Return the branch that a ref names; for `HEAD`, the one that is checked out.

    Return None if there is none.

    Args:
        found: the repository.
        ref: a ref for which `locate` found a commit.
        git: the git program.
    """
    answer = await git.attempt(["rev-parse", "--symbolic-full-name", ref], _ANYWHERE, cwd=found.top)
    name = answer.stdout.decode("utf-8", "replace").strip()
    return name.removeprefix(_BRANCHES) if answer.returncode == 0 and name.startswith(_BRANCHES) else None


async def uncommitted_files(found: Located, git: Git) -> int | None:
    """Count files that differ from HEAD, untracked ones included.

    Return None if git takes too long or fails.
    """
    if found.bare:
        return 0
    names = await git.attempt(["config", "--list", "-z", "--name-only"], _ANYWHERE, cwd=found.top)
    if names.returncode != 0:
        return None
    quiet: dict[str, str] = {}
    for name in names.stdout.decode("utf-8", "surrogateescape").split("\0"):
        # Comparing a file runs its clean filter, which the repository's owner can set to any command.
        if name.startswith("filter.") and name.endswith((".clean", ".smudge", ".process")):
            quiet[name] = ""
            quiet[name.rpartition(".")[0] + ".required"] = "false"
    command = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"]
    status = await git.attempt(
        [*command, "--untracked-files=normal"],
        _ANYWHERE,
        cwd=found.top,
        env=configuration_with(quiet),
        timeout=_STATUS_SECONDS,
        output_limit=_STATUS_BYTES,
    )
    if status.returncode != 0 or status.timed_out:
        return None
    return status.stdout.count(b"\0")


def _existing_directory(given: str) -> Path:
    path = Path(given)
    if not path.is_absolute():
        raise InvalidInputError(f"{given} is not an absolute path", field=_PATH)
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise InvalidInputError(f"{given} does not exist or cannot be reached", field=_PATH) from error
    if not resolved.is_dir():
        raise InvalidInputError(f"{given} is not a directory", field=_PATH)
    return resolved


def _check_roots(given: str, path: Path, allowed_roots: Sequence[Path]) -> None:
    if allowed_roots and not any(path.is_relative_to(root.resolve()) for root in allowed_roots):
        raise InvalidInputError(f"{given} is outside the allowed directories (WORKSPACE_ROOTS)", field=_PATH)


async def _commit_of(source: LocalSource, path: Path, git: Git) -> tuple[str, bool]:
    asked = "".join(f"{name}\n" for name in (f"{source.ref}^{{commit}}", "HEAD", f"{source.ref}:.gitmodules"))
    answer = await git.attempt(["cat-file", "--batch-check"], _ANYWHERE, cwd=path, stdin=asked.encode())
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    if answer.returncode != 0 or len(lines) != 3:
        raise WorkspaceError(f"{source.path} cannot be read: {reason(answer)}", field=_PATH)
    found = lines[0].split(" ")
    if len(found) == 3 and found[1] == "commit":
        return found[0], not lines[2].endswith(" missing")
    if lines[1].endswith(" missing") and source.ref == "HEAD":
        raise WorkspaceError(f"{source.path} has no commits yet; make one first", field=_PATH)
    told = await no_such_commit(source.ref, path, git)
    raise WorkspaceError(told, field="source.ref")


async def no_such_commit(ref: str, path: Path, git: Git) -> str:
    """Return a message that a repository lacks a commit, and how to get it."""
    answer = await git.attempt(["rev-parse", "--is-shallow-repository"], _ANYWHERE, cwd=path)
    if answer.stdout.strip() == b"true":
        step = "the clone is shallow: get its history with `git fetch --unshallow`"
    else:
        step = "if a remote has it, get it with `git fetch`"
    return f"{ref!r} is not a commit, branch or tag of {path}; {step}"
