"""Merges the changes of results that will be merged before this one into a commit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from app.core.errors import WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.scratch import beside, fetch_tip, merged_tree, on_top_of


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """A result that will be merged earlier.

    Attributes:
        run_id: the run that opened its pull request.
        known_as: its name for people, such as `#7`.
        store: the git directory that has it.
        base: the commit from which its run started.
        head: the result's commit.
        branch: the branch to which it was pushed; None before that.
        pushed: commits that the service pushed there. If the branch has another one, people pushed it.
    """

    run_id: UUID
    known_as: str
    store: Path
    base: str
    head: str
    branch: str | None = None
    pushed: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The result's name for people, with its commit."""
        return f"{self.known_as} at {self.head[:12]}"


async def with_earlier(
    scratch: RunRepository,
    commit: str,
    after: Sequence[EarlierResult],
    source: GitSource,
    policy: SourcePolicy,
) -> tuple[str, tuple[EarlierResult, ...]]:
    """Merge earlier results into a commit. Return the new commit, and the results that it contains.

    Commits that people pushed to a result's branch are merged with it. Results in conflict are left out.
    """
    git, place, merged = scratch.git, scratch.target, list[EarlierResult]()
    for known in after:
        each = await _as_pushed(scratch, known, source, policy)
        sides = [await on_top_of(each.base, end, git, place) for end in (commit, each.head)]
        tree, conflicts = await merged_tree(git, place, *sides)
        if conflicts:
            continue  # it cannot be merged as it is, so later work need not fit it
        command = ["commit-tree", tree, "-p", commit, "-m", f"With {each.name}"]
        commit = (await git.run(command, place)).decode().strip()
        merged.append(each)
    return commit, tuple(merged)


async def _as_pushed(
    scratch: RunRepository, known: EarlierResult, source: GitSource, policy: SourcePolicy
) -> EarlierResult:
    """Return a result with its branch's present commit."""
    if known.branch is None:
        return known
    try:
        tip = await fetch_tip(scratch, source.model_copy(update={"ref": known.branch}), policy)
    except WorkspaceError:
        return known  # people deleted the branch, but the pull request keeps its commits
    return known if tip in known.pushed else replace(known, head=tip)


async def build_on(
    run: RunRepository, base: str, after: Sequence[EarlierResult], source: GitSource, policy: SourcePolicy
) -> tuple[str, tuple[EarlierResult, ...]]:
    """Merge earlier results into a run's base. Return the commit to start from, and the merged results.

    The commit has no parent, because no other repository knows it and nothing may attach to it.

    Raises:
        WorkspaceError: git cannot merge, or the files are larger than the limits.
    """
    if not after:
        return base, ()
    stores = list(dict.fromkeys([run.path, *(each.store for each in after)]))
    async with beside(run, stores, stores, len(base)) as scratch:
        onto, merged = await with_earlier(scratch, base, after, source, policy)
        if not merged:
            return base, ()
        names = " and ".join(each.name for each in merged)
        command = ["commit-tree", f"{onto}^{{tree}}", "-m", f"Start from {base[:12]} with {names}"]
        start = (await scratch.git.run(command, scratch.target)).decode().strip()
        await RunRepository(scratch.git, scratch.path, run.limits).check_limits(start, "source.url")
        bundle = await scratch.bundle(start)
    await run.add(bundle)
    # Recreate the repository, so that no part of the base's own history stays behind.
    await run.restore(await run.bundle(start))
    return start, merged
