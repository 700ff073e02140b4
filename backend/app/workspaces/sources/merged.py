"""Reads what a merge changed on its target, to compare it with what a run delivered."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.errors import WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import reason
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.scratch import beside, fetch_tip

_PATCH = ["diff-tree", "-p", "-r", "-U0", "--no-renames", "--full-index"]
_PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color"]
_LIMIT = 64_000_000
_MAX_COMMITS = 20


@dataclass(frozen=True, slots=True)
class DeliveredAndMerged:
    """Patches without context lines.

    Attributes:
        delivered: the run's change.
        merged: the possible changes of the merge. There is one patch for each number of commits that the
            merge
            may have added to the target, because a rebase of several commits looks like a merge of the last
                one.
    """

    delivered: bytes
    merged: Sequence[bytes]


async def read_merged(
    source: GitSource,
    commit: str,
    commits: int,
    run: RunRepository,
    base: str,
    head: str,
    policy: SourcePolicy,
) -> DeliveredAndMerged:
    """Read a run's change, and the change that the merge of its pull request made.

    Args:
        source: the remote repository.
        commit: the commit that the merge left on the target.
        commits: how many commits the pull request had.
        run: the run's repository, with `base` and `head`.
        base: the commit from which the run started.
        head: the commit of its result.
        policy: which sources and credentials are allowed.

    Raises:
        InvalidInputError: the URL is not allowed.
        WorkspaceError: the merge cannot be fetched, or a change is larger than 64 MB.
    """
    async with beside(run, [run.path], [run.path], len(commit)) as scratch:
        merge = source.model_copy(update={"ref": commit})
        await fetch_tip(scratch, merge, policy, depth=2)
        parents = await _parents(scratch, commit)
        befores = parents[:1]
        if len(parents) == 1 and commits > 1:
            depth = min(commits, _MAX_COMMITS) + 1
            await fetch_tip(scratch, merge, policy, depth=depth)
            befores = await _line_before(scratch, commit, depth - 1)
        if not befores:
            raise WorkspaceError(f"the commit {commit[:12]} has no parent to compare it with")
        return DeliveredAndMerged(
            delivered=await _patch(scratch, base, head),
            merged=[await _patch(scratch, before, commit) for before in befores],
        )


async def _parents(scratch: RunRepository, commit: str) -> list[str]:
    found = await scratch.git.run(["rev-list", "--parents", "-n", "1", commit], scratch.target)
    return found.decode().split()[1:]


async def _line_before(scratch: RunRepository, commit: str, count: int) -> list[str]:
    """Return the ancestors of a commit along first parents, the nearest first."""
    command = ["rev-list", "--first-parent", f"--max-count={count + 1}", commit]
    return (await scratch.git.run(command, scratch.target)).decode().split()[1:]


async def _patch(scratch: RunRepository, before: str, after: str) -> bytes:
    command = [*_PATCH, *_PLAIN, before, after]
    outcome = await scratch.git.attempt(command, scratch.target, output_limit=_LIMIT)
    if outcome.truncated:
        raise WorkspaceError("the change is larger than 64 MB, so it is not compared")
    if outcome.returncode != 0 or outcome.timed_out:
        raise WorkspaceError(f"the change cannot be read: {reason(outcome)}")
    return outcome.stdout
