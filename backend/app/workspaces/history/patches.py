"""Applies a unified diff to a commit without a working tree, and returns the resulting files."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from app.core.errors import InvalidInputError
from app.workspaces.files.paths import display_path
from app.workspaces.history.git import Git, GitTarget, reason
from app.workspaces.history.withheld import TreeEntry, differing

_REGULAR = frozenset({b"100644", b"100755"})
_KINDS = {b"000000": "is deleted", b"120000": "is a symbolic link", b"160000": "is a submodule"}
_FAILED_HUNK = re.compile(r"^error: patch failed: (?P<file>.+):(?P<line>\d+)$", re.MULTILINE)
_ERROR = re.compile(r"^error: (?P<what>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """A file that a patch adds or changes, with its new content."""

    path: str
    content: bytes


async def apply_patch(git: Git, git_dir: Path, commit: str, patch: bytes) -> list[PatchedFile]:
    """Return the files that a patch adds to a commit or changes there, without writing to the repository.

    Raises:
        InvalidInputError: the patch does not apply, or does more than add and change regular files. The
            message names file and hunk.
    """
    place = await anyio.to_thread.run_sync(lambda: tempfile.TemporaryDirectory(prefix="phaserunner-patch-"))
    try:
        return await _Patching(git, git_dir, Path(place.name)).apply(commit, patch)
    finally:
        await anyio.to_thread.run_sync(place.cleanup)


class _Patching:
    """One application of a patch, with its index and new objects in a separate directory."""

    def __init__(self, git: Git, git_dir: Path, place: Path) -> None:
        self._git = git
        self._target = GitTarget(git_dir, index=place / "index")
        self._env = {
            "GIT_OBJECT_DIRECTORY": str(place / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git_dir / "objects"),
        }
        (place / "objects").mkdir()

    async def apply(self, commit: str, patch: bytes) -> list[PatchedFile]:
        await self._run("read-tree", commit)
        command = ["apply", "--cached", "--whitespace=nowarn", "-"]
        outcome = await self._git.attempt(command, self._target, stdin=patch, env=self._env)
        if outcome.returncode != 0:
            raise InvalidInputError(_why(outcome.stderr) or reason(outcome))
        compare = ("diff-index", "--cached", "--no-renames", "--no-abbrev", "-z", commit)
        changes = differing(await self._run(*compare))
        return [await self._file(each) for each in changes]

    async def _file(self, entry: TreeEntry) -> PatchedFile:
        path = display_path(entry.path)
        if entry.mode not in _REGULAR:
            what = _KINDS.get(entry.mode, "is not a regular file")
            raise InvalidInputError(f"{path} {what}; only regular files may be added or changed")
        return PatchedFile(path, await self._run("cat-file", "blob", entry.object_id.decode()))

    async def _run(self, *arguments: str) -> bytes:
        return await self._git.run(arguments, self._target, env=self._env)


def _why(said: str) -> str:
    """Return which hunk does not fit, or git's other objection."""
    failed = [f"{each['file']}, the hunk at line {each['line']}" for each in _FAILED_HUNK.finditer(said)]
    if failed:
        return f"the patch does not apply on the base: {'; '.join(failed[:5])}"
    errors = [each["what"] for each in _ERROR.finditer(said)]
    return f"the patch does not apply on the base: {'; '.join(errors[:5])}" if errors else ""
