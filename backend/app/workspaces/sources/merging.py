"""Tests whether a run's result merges into the present state of its source."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.schemas.workspaces import GitSource, LocalSource
from app.workspaces.history.git import GitTarget
from app.workspaces.history.refs import check_branch
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.earlier import EarlierResult, with_earlier
from app.workspaces.sources.filling import fill_in
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.local import branch_of, locate
from app.workspaces.sources.scratch import beside, fetch_tip, has_commit, merged_tree, on_top_of

MergeState = Literal["clean", "conflicts", "contained"]


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """What merging a result into a branch would do.

    Attributes:
        branch: name of the branch; `HEAD` if none is checked out or named.
        commit: the commit to which the branch points.
        moved: True if the branch does not point to the commit from which the run started.
        state: `contained` means that the branch already has every change.
        conflicts: paths of files in conflict.
        after: names of earlier results that were merged into the branch first.
    """

    branch: str
    commit: str
    moved: bool
    state: MergeState
    conflicts: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Target:
    """A commit to merge into, in a repository that also sees the run's objects.

    `has_history` is True if the history before the commit and before the run's base is available. `onto` is
    the commit with earlier results merged in, and `after` names them.
    """

    repository: RunRepository
    branch: str
    commit: str
    has_history: bool
    onto: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """A tried merge in a temporary repository. It can be used while that exists.

    Attributes:
        outcome: what merging would do.
        repository: sees all objects of the merge.
        tree: id of the merged tree; files in conflict hold conflict markers.
        onto: the commit merged into: the target's, with earlier results if there are any.
    """

    outcome: MergeOutcome
    repository: RunRepository
    tree: str
    onto: str

    async def check_out(self, place: Path) -> tuple[Path, Path]:
        """Write the target's files to `place/base` and the merged ones to `place/candidate`.

        Return both paths.

        Raises:
            GitError, OSError: the files cannot be written.
        """
        base, candidate = place / "base", place / "candidate"
        command = ["commit-tree", self.tree, "-p", self.onto, "-m", "Merged"]
        made = await self.repository.git.run(command, self.repository.target)
        await self.repository.checkout_base(self.onto, base)
        await self.repository.checkout(made.decode().strip(), candidate)
        return base, candidate


@asynccontextmanager
async def merging_into_local(
    source: LocalSource, branch: str | None, policy: SourcePolicy, run: RunRepository, base: str, head: str
) -> AsyncGenerator[Merge]:
    """Merge `head` into a branch of a local repository, in memory and without writing to the repository.

    Args:
        source: the repository; its `ref` is not used.
        branch: name of the branch; by default the one that is checked out.
        policy: which sources are allowed.
        run: the run's repository, with `base` and `head`.
        base: the commit from which the run started.
        head: the commit of the result.

    Raises:
        InvalidInputError: the branch name is not valid, or the path is not allowed.
        WorkspaceError: there is no such repository or branch, or git cannot merge.
    """
    ref = "HEAD" if branch is None else f"refs/heads/{check_branch(branch)}"
    found = await locate(source.model_copy(update={"ref": ref}), policy.allowed_roots, run.git)
    name = branch or await branch_of(found, "HEAD", run.git) or "HEAD"
    knows_base = await has_commit(run.git, GitTarget(found.store), base)
    # The run's history is cut at its base, and the source's history continues there. Without the base in the
    # source, the cut must stay.
    cuts = [found.store] if knows_base else [found.store, run.path]
    async with beside(run, [found.store, run.path], cuts, len(found.commit)) as scratch:
        yield await _merge(_Target(scratch, name, found.commit, knows_base, found.commit), base, head)


@asynccontextmanager
async def merging_into_remote(
    source: GitSource,
    branch: str | None,
    policy: SourcePolicy,
    run: RunRepository,
    base: str,
    head: str,
    after: Sequence[EarlierResult] = (),
) -> AsyncGenerator[Merge]:
    """Fetch a branch of a remote repository and merge `head` into it, in memory.

    Only the branch's files are fetched. So the changes since `base` are merged, as a rebase would do.

    Args:
        source: the remote repository.
        branch: name of the branch; by default that of the source.
        policy: which sources and credentials are allowed.
        run: the run's repository, with `base` and `head`.
        base: the commit from which the run started.
        head: the commit of the result.
        after: results to merge first, in this order; one that conflicts is left out.

    Raises:
        InvalidInputError: the branch or the URL is not allowed.
        WorkspaceError: the branch cannot be fetched, or git cannot merge.
    """
    ref = branch or source.ref
    stores = list(dict.fromkeys([run.path, *(each.store for each in after)]))
    async with beside(run, stores, stores, len(base)) as scratch:
        commit = await fetch_tip(scratch, source.model_copy(update={"ref": ref}), policy)
        onto, merged = await with_earlier(scratch, commit, after, source, policy)
        await fill_in(scratch, onto, source, policy)
        names = tuple(each.name for each in merged)
        target = _Target(scratch, ref or "HEAD", commit, has_history=False, onto=onto, after=names)
        yield await _merge(target, base, head)


async def _merge(target: _Target, base: str, head: str) -> Merge:
    git, place = target.repository.git, target.repository.target
    sides, moved = [target.onto, head], target.commit != base
    if not target.has_history:
        sides = [await on_top_of(base, each, git, place) for each in sides]
    merged, conflicts = await merged_tree(git, place, *sides)
    if conflicts:
        found = MergeOutcome(target.branch, target.commit, moved, "conflicts", conflicts, target.after)
        return Merge(found, target.repository, merged, target.onto)
    theirs = await git.run(["rev-parse", f"{target.onto}^{{tree}}"], place)
    state: MergeState = "contained" if merged == theirs.decode().strip() else "clean"
    outcome = MergeOutcome(target.branch, target.commit, moved, state, after=target.after)
    return Merge(outcome, target.repository, merged, target.onto)
