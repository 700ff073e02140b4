"""Makes commits that differ from others in a few files only, without a working tree."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio.to_thread

from app.workspaces.history.git import GitTarget
from app.workspaces.history.repository import RunRepository

_EXECUTABLE = b"100755"


async def with_files(repository: RunRepository, commit: str, files: Mapping[str, bytes]) -> str:
    """Return the id of a commit's tree with other contents of some files. An executable file stays one.

    Args:
        repository: has the commit, and gets the new objects.
        commit: a commit id.
        files: new contents by path. A file that the commit lacks is added.

    Raises:
        GitError: there is no such commit, or a file is in the place of a directory.
    """
    place = await anyio.to_thread.run_sync(lambda: tempfile.TemporaryDirectory(prefix="phaserunner-index-"))
    try:
        git, target = repository.git, GitTarget(repository.path, index=Path(place.name) / "index")
        await git.run(["read-tree", commit], target)
        listed = await git.run(["ls-files", "-s", "-z", "--", *files], target)
        executable = {
            line.partition(b"\t")[2] for line in listed.split(b"\0") if line.startswith(_EXECUTABLE)
        }
        lines = b""
        for name, content in sorted(files.items()):
            made = await git.run(["hash-object", "-w", "--stdin"], target, stdin=content)
            path = name.encode()
            mode = _EXECUTABLE if path in executable else b"100644"
            lines += mode + b" " + made.strip() + b"\t" + path + b"\0"
        await git.run(["update-index", "-z", "--index-info"], target, stdin=lines)
        return (await git.run(["write-tree"], target)).decode().strip()
    finally:
        await anyio.to_thread.run_sync(place.cleanup)


async def commit_like(
    repository: RunRepository, model: str, tree: str, parents: Sequence[str], message: str | None = None
) -> str:
    """Create a commit with the author and the dates of another one. The same input gives the same id.

    Args:
        repository: has `model` and `tree`, and gets the commit; it need not have the parents.
        model: the commit whose author and dates are kept.
        tree: the files of the new commit.
        parents: full commit ids.
        message: the commit message; by default that of `model`.

    Raises:
        GitError: `model` is not here.
    """
    git, target = repository.git, repository.target
    header, _, said = (await git.run(["cat-file", "commit", model], target)).partition(b"\n\n")
    people = [line for line in header.split(b"\n") if line.startswith((b"author ", b"committer "))]
    lines = [f"tree {tree}".encode(), *(f"parent {each}".encode() for each in parents), *people]
    words = said if message is None else f"{message.strip()}\n".encode()
    made = await git.run(
        ["hash-object", "-t", "commit", "-w", "--stdin"], target, stdin=b"\n".join(lines) + b"\n\n" + words
    )
    return made.decode().strip()
