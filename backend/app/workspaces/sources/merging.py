"""Tries what a run made on the present state of its source."""

import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.schemas.workspaces import GitSource, LocalSource
from app.workspaces.files.paths import display_path
from app.workspaces.history.git import Git, GitTarget, reason
from app.workspaces.history.refs import check_branch
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy, check_file_url, check_remote_ref, check_url
from app.workspaces.sources.local import branch_of, locate
from app.workspaces.sources.remote import prepare_fetch

MergeState = Literal["clean", "conflicts", "contained"]

_SECONDS = 60.0
_SHA256_LENGTH = 64
_FETCHED = "refs/phaserunner/target"
_FETCH = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """What merging a result into a branch would do.

    Attributes:
        branch: name of the branch; `HEAD` where none is checked out or named.
        commit: the commit the branch points to.
        moved: the branch does not point to the commit that the run started from.
        state: `contained` means that the branch already has every change.
        conflicts: paths of files in conflict.
        after: names of earlier results that were merged into the branch before.
    """

    branch: str
    commit: str
    moved: bool
    state: MergeState
    conflicts: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """A result that will be merged earlier.

    Attributes:
        name: what people call it.
        store: git directory that has it.
        base: commit that its run started from.
        head: the result.
    """

    name: str
    store: Path
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class _Target:
    """A commit to merge into, in a repository that also sees the run's objects.

    `has_history` tells that the history before the commit and before the run's base is there. `onto` is the
    commit with earlier results merged in, and `after` names these.
    """

    repository: RunRepository
    branch: str
    commit: str
    has_history: bool
    onto: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that was tried in a repository of its scratch directory, while that is there.

    Attributes:
        outcome: what merging would do.
        repository: sees all objects of the merge.
        tree: of the merged files; they hold marks where files conflict.
        onto: what was merged into: the target's commit, with earlier results if there are any.
    """

    outcome: MergeOutcome
    repository: RunRepository
    tree: str
    onto: str

    async def check_out(self, place: Path) -> tuple[Path, Path]:
        """Write the target's files to `place/base` and the merged ones to `place/candidate`; give both.

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
        source: the repository; its `ref` does not matter.
        branch: name of the branch; by default the one that is checked out.
        policy: which sources are allowed.
        run: the run's repository, with `base` and `head`.
        base: commit the run started from.
        head: commit of the result.

    Raises:
        InvalidInputError: the branch has no valid name, or the path is not allowed.
        WorkspaceError: there is no such repository or branch, or git cannot merge.
    """
    ref = "HEAD" if branch is None else f"refs/heads/{check_branch(branch)}"
    found = await locate(source.model_copy(update={"ref": ref}), policy.allowed_roots, run.git)
    name = branch or await branch_of(found, "HEAD", run.git) or "HEAD"
    knows_base = await has_commit(run.git, GitTarget(found.store), base)
    # The run's history is cut at its base, where its source goes on. Without a base there, the cut must stay.
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
        base: commit the run started from.
        head: commit of the result.
        after: results that are merged before, in this order; one that conflicts is left out.

    Raises:
        InvalidInputError: the branch or the URL is not allowed.
        WorkspaceError: the branch cannot be fetched, or git cannot merge.
    """
    ref = branch or source.ref
    stores = list(dict.fromkeys([run.path, *(each.store for each in after)]))
    async with beside(run, stores, stores, len(base)) as scratch:
        commit = await fetch_tip(scratch, source.model_copy(update={"ref": ref}), policy)
        onto, names = await _with_earlier(scratch, commit, after)
        target = _Target(scratch, ref or "HEAD", commit, has_history=False, onto=onto, after=names)
        yield await _merge(target, base, head)


async def _with_earlier(
    scratch: RunRepository, commit: str, after: Sequence[EarlierResult]
) -> tuple[str, tuple[str, ...]]:
    """Merge earlier results into a commit; give the commit with them, and the names of those it holds."""
    git, place, names = scratch.git, scratch.target, list[str]()
    for each in after:
        sides = [await on_top_of(each.base, end, git, place) for end in (commit, each.head)]
        tree, conflicts = await merged_tree(git, place, *sides)
        if conflicts:
            continue  # it cannot be merged as it is, so nothing is to fit it
        command = ["commit-tree", tree, "-p", commit, "-m", f"With {each.name}"]
        commit = (await git.run(command, place)).decode().strip()
        names.append(each.name)
    return commit, tuple(names)


async def fetch_tip(scratch: RunRepository, source: GitSource, policy: SourcePolicy, depth: int = 1) -> str:
    """Fetch the newest commit of a remote branch, by default without the history before it; give its id.

    Args:
        scratch: takes the commit.
        source: the remote repository; its `ref` is a branch, a commit id, or None for the default branch.
        policy: which sources and credentials are allowed.
        depth: how many generations of commits are fetched.

    Raises:
        InvalidInputError: the branch or the URL is not allowed.
        WorkspaceError: it cannot be fetched.
    """
    check_url(source.url, policy)
    check_remote_ref(source.ref)
    if source.url.startswith("file:"):
        await anyio.to_thread.run_sync(check_file_url, source.url, policy)
    git = scratch.git
    remote = await prepare_fetch(source, git.transport_env, policy)
    command = [*_FETCH, f"--depth={depth}", "--", remote.url, f"+{source.ref or 'HEAD'}:{_FETCHED}"]
    outcome = await git.attempt(command, scratch.target, env=remote.env, timeout=policy.fetch_seconds)
    if outcome.returncode != 0 or outcome.timed_out:
        raise WorkspaceError(f"the source cannot be fetched: {reason(outcome)}", field="source.url")
    return (
        (await git.run(["rev-parse", "--verify", f"{_FETCHED}^{{commit}}"], scratch.target)).decode().strip()
    )


@asynccontextmanager
async def beside(
    run: RunRepository, stores: Sequence[Path], cuts: Sequence[Path], id_length: int
) -> AsyncGenerator[RunRepository]:
    """Yield an empty repository that reads the objects of `stores`; it is removed afterwards.

    Args:
        run: the run's repository, beside which it is made.
        stores: git directories.
        cuts: git directories whose histories end where their `shallow` file says.
        id_length: characters of an object id.
    """
    with tempfile.TemporaryDirectory(dir=run.path.parent, prefix="merge-") as place:
        scratch = RunRepository(run.git, Path(place) / "merge.git")
        await scratch.create("sha256" if id_length == _SHA256_LENGTH else "sha1")
        await anyio.to_thread.run_sync(_lend, scratch.path, stores, cuts)
        yield scratch


def _lend(to: Path, stores: Sequence[Path], cuts: Sequence[Path]) -> None:
    (to / "objects" / "info").mkdir(exist_ok=True)
    lines = "".join(f"{store / 'objects'}\n" for store in stores)
    (to / "objects" / "info" / "alternates").write_text(lines)
    shallow = "".join(file.read_text() for cut in cuts if (file := cut / "shallow").is_file())
    if shallow:
        (to / "shallow").write_text(shallow)


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


async def merged_tree(git: Git, place: GitTarget, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Merge two commits in memory; give the tree, and the paths of files in conflict, which hold marks.

    Raises:
        WorkspaceError: git cannot merge them.
    """
    command = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs]
    outcome = await git.attempt(command, place, timeout=_SECONDS)
    if outcome.timed_out or outcome.returncode not in (0, 1):
        raise WorkspaceError(f"the merge cannot be tried: {reason(outcome)}")
    tree, *names = outcome.stdout.split(b"\0")[:-1]
    found = tuple(display_path(name) for name in dict.fromkeys(names) if name)
    return tree.decode().strip(), found if outcome.returncode == 1 else ()


async def on_top_of(base: str, commit: str, git: Git, target: GitTarget) -> str:
    """Make a stand-in for a commit: the same files on top of `base`, so that git compares both with it."""
    made = await git.run(["commit-tree", f"{commit}^{{tree}}", "-p", base, "-m", "Stand-in"], target)
    return made.decode().strip()


async def has_commit(git: Git, target: GitTarget, commit: str) -> bool:
    """Tell whether a repository has a commit."""
    return (await git.attempt(["cat-file", "-e", f"{commit}^{{commit}}"], target)).returncode == 0
