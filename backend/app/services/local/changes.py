"""Reads a directory's repository: its root, its commit, and whether the directory differs from a base."""

from pathlib import Path

import anyio

from app.core.errors import InvalidInputError, WorkspaceError
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.sources.copying import top_of_repository

_HERE = GitTarget(None)
_SECONDS = 120.0


async def repository_prefix(path: Path, git: Git) -> str:
    """Return a directory's POSIX path in its repository; `""` at the root and outside of a repository."""
    top = await top_of_repository(path, git)
    resolved = Path(await anyio.Path(path).resolve())
    if top is None or not resolved.is_relative_to(top):
        return ""
    found = resolved.relative_to(top).as_posix()
    return "" if found == "." else found


async def commit_of(path: Path, ref: str, git: Git) -> str | None:
    """Return the commit that a reference names in a directory's repository; None if there is none."""
    outcome = await git.attempt(
        ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"], _HERE, cwd=path
    )
    found = outcome.stdout.decode("ascii", "replace").strip()
    return found if outcome.returncode == 0 and found else None


async def is_changed(path: Path, base: str, git: Git) -> bool:
    """Return whether a directory's files differ from a commit; files that git ignores do not count.

    Raises:
        InvalidInputError: the directory cannot be compared with the base; the error names the field.
    """
    compared = await git.attempt(
        ["diff", "--quiet", "--no-ext-diff", "--no-textconv", base, "--", "."],
        _HERE,
        cwd=path,
        timeout=_SECONDS,
    )
    if compared.returncode not in (0, 1):
        told = compared.stderr.strip()[:300]
        raise InvalidInputError(f"{base} cannot be compared with: {told}", field="base")
    if compared.returncode:
        return True
    untracked = await git.attempt(
        ["ls-files", "--others", "--exclude-standard", "--", "."], _HERE, cwd=path, timeout=_SECONDS
    )
    return bool(untracked.stdout.strip())


async def lay_out_commit(project: Path, commit: str, base: str | None, place: Path, git: Git) -> Path:
    """Lay out a commit in a clone below `place`, and return the project's directory in it.

    Raises:
        WorkspaceError: the commit cannot be laid out.
    """
    top = await top_of_repository(project, git) or project
    clone = place / "clone"
    source = str(top)
    steps = [
        ["clone", "-q", "--shared", "--no-checkout", "--no-tags", "--", source, str(clone)],
        ["-C", str(clone), "checkout", "-q", "--detach", commit],
    ]
    if base:
        steps.append(["-C", str(clone), "update-ref", "refs/heads/phaserunner-base", base])
    for step in steps:
        env = {"GIT_ALLOW_PROTOCOL": "file"}
        outcome = await git.attempt(step, _HERE, cwd=place, env=env, timeout=_SECONDS)
        if outcome.returncode:
            raise WorkspaceError(
                f"{commit[:12]} cannot be laid out: {outcome.stderr.strip()[:300]}", field="path"
            )
    return clone / project.relative_to(top)
