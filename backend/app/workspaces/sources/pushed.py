"""Merges what other people pushed to a branch into its target, in memory."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.core.errors import ConflictError
from app.schemas.workspaces import GitSource
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.continuing import BranchHead
from app.workspaces.sources.filling import fill_in
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.merging import Merge, MergeOutcome
from app.workspaces.sources.scratch import beside, fetch_tip, merged_tree, on_top_of


@dataclass(frozen=True, slots=True)
class Target:
    """The branch that another one is to be merged into, and its newest commit."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True)
class PushedMerge:
    """A merge of a pushed branch.

    Attributes:
        merge: the merge, with its files.
        changed: paths of files in which the branch differs from the result that the service pushed.
    """

    merge: Merge
    changed: tuple[str, ...]


@asynccontextmanager
async def merging_pushed(
    source: GitSource, head: BranchHead, target: Target, run: RunRepository, known: str, policy: SourcePolicy
) -> AsyncGenerator[PushedMerge]:
    """Merge a branch into its target, and yield that with its files, which are there while the block runs.

    Args:
        source: the remote repository; its `ref` does not matter.
        head: the branch as it was seen, and what it has in common with the target.
        target: what it is merged into.
        run: the repository of the run whose result was pushed last.
        known: commit of that result.
        policy: which sources and credentials are allowed.

    Raises:
        ConflictError: the branch has moved.
        InvalidInputError: the branch or the URL is not allowed.
        WorkspaceError: a commit cannot be fetched or merged, or is larger than the limits.
    """
    async with beside(run, [run.path], [run.path], len(known)) as scratch:
        found = await fetch_tip(scratch, source.model_copy(update={"ref": head.branch}), policy)
        if found != head.commit:
            raise ConflictError(f"the branch {head.branch} has moved from {head.commit[:12]} to {found[:12]}")
        onto = await fetch_tip(scratch, source.model_copy(update={"ref": target.commit}), policy)
        await RunRepository(scratch.git, scratch.path, run.limits).check_limits(found, "source.url")
        git, place = scratch.git, scratch.target
        tree, conflicts = f"{found}^{{tree}}", ()
        if head.merge_base != onto:
            await fetch_tip(scratch, source.model_copy(update={"ref": head.merge_base}), policy)
            sides = [await on_top_of(head.merge_base, each, git, place) for each in (onto, found)]
            tree, conflicts = await merged_tree(git, place, *sides)
        await fill_in(scratch, onto, source, policy)
        state = "conflicts" if conflicts else "clean"
        outcome = MergeOutcome(target.branch, onto, moved=True, state=state, conflicts=conflicts)
        changes = await scratch.changed_files(known, found)
        changed = tuple(each.old_path or each.path for each in changes)
        yield PushedMerge(Merge(outcome, scratch, tree, onto), changed)
