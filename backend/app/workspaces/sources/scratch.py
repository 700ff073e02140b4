"""Temporary repositories: they read the objects of others, and git merges in them."""

import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.files.paths import display_path
from app.workspaces.history.git import Git, GitTarget, reason
from app.workspaces.history.notes import read_notes, write_notes
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy, check_file_url, check_remote_ref, check_url
from app.workspaces.sources.remote import prepare_fetch

_SECONDS = 60.0
_SHA256_LENGTH = 64
_FETCHED = "refs/phaserunner/target"
_FETCH = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]


async def fetch_tip(scratch: RunRepository, source: GitSource, policy: SourcePolicy, depth: int = 1) -> str:
    """Fetch the newest commit of a remote branch, by default without earlier history. Return its id.

    Args:
        scratch: gets the commit.
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
    """Yield an empty repository that reads the objects of `stores`. Remove it afterwards.

    Args:
        run: the run's repository; the new one is created beside it.
        stores: git directories.
        cuts: git directories with a `shallow` file, at which their histories end.
        id_length: characters of an object id.
    """
    with tempfile.TemporaryDirectory(dir=run.path.parent, prefix="merge-") as place:
        scratch = RunRepository(run.git, Path(place) / "merge.git")
        await scratch.create("sha256" if id_length == _SHA256_LENGTH else "sha1")
        await anyio.to_thread.run_sync(_lend, scratch.path, stores, cuts)
        await anyio.to_thread.run_sync(lambda: write_notes(scratch.path, read_notes(run.path)))
        yield scratch


def _lend(to: Path, stores: Sequence[Path], cuts: Sequence[Path]) -> None:
    (to / "objects" / "info").mkdir(exist_ok=True)
    lines = "".join(f"{store / 'objects'}\n" for store in stores)
    (to / "objects" / "info" / "alternates").write_text(lines)
    shallow = "".join(file.read_text() for cut in cuts if (file := cut / "shallow").is_file())
    if shallow:
        (to / "shallow").write_text(shallow)


async def merged_tree(git: Git, place: GitTarget, ours: str, theirs: str) -> tuple[str, tuple[str, ...]]:
    """Merge two commits in memory. Return the tree, and the paths of files with conflict markers.

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
    """Create a substitute for a commit: the same files on top of `base`, which becomes the merge base."""
    made = await git.run(["commit-tree", f"{commit}^{{tree}}", "-p", base, "-m", "Stand-in"], target)
    return made.decode().strip()


async def has_commit(git: Git, target: GitTarget, commit: str) -> bool:
    """Return True if a repository has a commit."""
    return (await git.attempt(["cat-file", "-e", f"{commit}^{{commit}}"], target)).returncode == 0
