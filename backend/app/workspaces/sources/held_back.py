"""Holds a part of some files back from a run's base, and puts it back into the result."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import anyio.to_thread

from app.core.errors import WorkspaceError
from app.workspaces.history.bundle import Bundle
from app.workspaces.history.git import reason
from app.workspaces.history.refs import check_branch
from app.workspaces.history.replacing import commit_like, with_files
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.scratch import beside

_FILE_BYTES = 4_000_000


async def hold_back(run: RunRepository, base: str, shown: Mapping[str, bytes]) -> str:
    """Replace files of a run's base. Return the new base, which has no parent.

    Nothing of the former base stays in the repository, so that no bundle contains what is held back. The new
    commit keeps its author and dates.

    Args:
        run: a repository that holds only the base.
        base: its commit.
        shown: the new contents by path.
    """
    tree = await with_files(run, base, shown)
    start = await commit_like(run, base, tree, (), f"Start from {base[:12]} with a part of its tests")
    await run.restore(await run.bundle(start))
    return start


async def put_back(
    run: RunRepository, start: str, base: str | None, head: str, files: Mapping[str, bytes], branch: str
) -> tuple[str, bytes]:
    """Make the result of a run on a base that was held back, as a commit on top of the base as it was.

    Changes of the result in these files are merged; where both sides changed the same lines, both stay.

    Args:
        run: has `start` and `head`, and does not change.
        start: the commit from which the run started, made by `hold_back`.
        base: the commit from which that was made; None for a result that is complete by itself, because no
            other repository has that commit.
        head: the commit of the result.
        files: the contents in `base` of the files of which a part was held back.
        branch: the name of the branch in the bundle.

    Returns:
        The commit, and a bundle for `create_branch` or `git fetch`.

    Raises:
        InvalidInputError: `branch` is not a branch name.
        WorkspaceError: git cannot merge a file, or it is too large.
    """
    ref = f"refs/heads/{check_branch(branch)}"
    async with beside(run, [run.path], [run.path], len(start)) as scratch:
        merged = {name: await _merged(scratch, start, head, name, text) for name, text in files.items()}
        parents = () if base is None else (base,)
        made = await commit_like(scratch, head, await with_files(scratch, head, merged), parents)
        await anyio.to_thread.run_sync(_end_history_at, scratch.path, made)
        # What the run started from holds most files, and the repository with `base` has these as well.
        wanted = made if base is None else f"{made}\n^{start}"
        command = ["pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q"]
        pack = await scratch.git.run(command, scratch.target, stdin=f"{wanted}\n".encode())
        return made, Bundle(made, ref, parents, pack).encode()


def _end_history_at(git_dir: Path, commit: str) -> None:
    """Let git treat a commit as a root, because its parent is not here."""
    with (git_dir / "shallow").open("a") as file:
        file.write(f"{commit}\n")


async def _merged(scratch: RunRepository, start: str, head: str, name: str, whole: bytes) -> bytes:
    shown = await scratch.read_file(start, name, _FILE_BYTES + 1)
    now = await scratch.read_file(head, name, _FILE_BYTES + 1)
    if now is None or now == shown or not await _is_file(scratch, head, name):
        return whole
    if len(now) > _FILE_BYTES:
        raise WorkspaceError(f"{name} is too large to be merged with its held-out tests")
    place = await anyio.to_thread.run_sync(lambda: tempfile.TemporaryDirectory(prefix="phaserunner-merge-"))
    try:
        ours, before, theirs = (Path(place.name) / each for each in ("ours", "before", "theirs"))
        for path, content in ((ours, whole), (before, shown or b""), (theirs, now)):
            await anyio.to_thread.run_sync(path.write_bytes, content)
        command = ["merge-file", "-p", "-q", "--union", str(ours), str(before), str(theirs)]
        outcome = await scratch.git.attempt(command, scratch.target)
        if outcome.returncode != 0 or outcome.timed_out:
            raise WorkspaceError(f"{name} cannot be merged with its held-out tests: {reason(outcome)}")
        return outcome.stdout
    finally:
        await anyio.to_thread.run_sync(place.cleanup)


async def _is_file(scratch: RunRepository, commit: str, name: str) -> bool:
    """Return False for a link, whose text is the path to which it leads."""
    listed = await scratch.git.run(["ls-tree", "-z", commit, "--", name], scratch.target)
    return listed.startswith(b"100")
