"""Starts a run from the work on a branch or of another run, merged with the run's base."""

from dataclasses import dataclass

from app.core.errors import ConflictError
from app.schemas.workspaces import GitSource
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.earlier import EarlierResult
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.scratch import beside, fetch_tip, merged_tree, on_top_of


@dataclass(frozen=True, slots=True)
class BranchHead:
    """The state of a branch.

    Attributes:
        branch: its name.
        commit: its newest commit.
        merge_base: the newest commit that it has in common with the run's base.
    """

    branch: str
    commit: str
    merge_base: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """The commit with which a run begins.

    Attributes:
        commit: its id; the commit is on top of the run's base.
        bundle: stores the commit.
        conflicts: paths of files in conflict, which hold git's conflict markers.
        changed: paths of the base's files that the branch or result changed or deleted.
    """

    commit: str
    bundle: bytes
    conflicts: tuple[str, ...]
    changed: tuple[str, ...]


async def begin_on_branch(
    source: GitSource, head: BranchHead, run: RunRepository, base: str, policy: SourcePolicy
) -> Beginning:
    """Merge a branch and a run's base, and add the merge to the run's repository.

    Raises:
        ConflictError: the branch has moved.
        InvalidInputError: the branch or the URL is not allowed.
        WorkspaceError: a commit cannot be fetched or merged, or the merge is larger than the limits.
    """
    async with beside(run, [run.path], [run.path], len(base)) as scratch:
        found = await fetch_tip(scratch, source.model_copy(update={"ref": head.branch}), policy)
        if found != head.commit:
            raise ConflictError(f"the branch {head.branch} has moved from {head.commit[:12]} to {found[:12]}")
        git, place = scratch.git, scratch.target
        tree, conflicts = f"{found}^{{tree}}", ()
        if head.merge_base != base:
            common = source.model_copy(update={"ref": head.merge_base})
            await fetch_tip(scratch, common, policy)
            sides = [await on_top_of(head.merge_base, each, git, place) for each in (found, base)]
            tree, conflicts = await merged_tree(git, place, *sides)
        begun = await _begin(scratch, run, base, tree, conflicts, f"Begin with {head.branch}")
    await run.add(begun.bundle)
    return begun


async def begin_on_result(work: EarlierResult, run: RunRepository, base: str) -> Beginning:
    """Merge the result of another run and a run's base, and add the merge to the run's repository.

    Raises:
        WorkspaceError: git cannot merge them, or the merge is larger than the limits.
    """
    stores = [run.path, work.store]
    async with beside(run, stores, stores, len(base)) as scratch:
        git, place = scratch.git, scratch.target
        sides = [await on_top_of(work.base, each, git, place) for each in (work.head, base)]
        tree, conflicts = await merged_tree(git, place, *sides)
        begun = await _begin(scratch, run, base, tree, conflicts, f"Begin with {work.head[:12]}")
    await run.add(begun.bundle)
    return begun


async def _begin(
    scratch: RunRepository, run: RunRepository, base: str, tree: str, conflicts: tuple[str, ...], message: str
) -> Beginning:
    command = ["commit-tree", tree, "-p", base, "-m", message]
    commit = (await scratch.git.run(command, scratch.target)).decode().strip()
    limited = RunRepository(scratch.git, scratch.path, run.limits)
    await limited.check_limits(commit, "source.url")
    bundle = await scratch.bundle(commit, base)
    changed = [
        each.old_path or each.path
        for each in await scratch.changed_files(base, commit)
        if each.status != "added"
    ]
    return Beginning(commit, bundle, conflicts, tuple(changed))
