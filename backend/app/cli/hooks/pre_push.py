"""Runs git's pre-push hook: judges each pushed commit in a separate clone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from app.cli.exits import CliError
from app.cli.hooks.session import find_project
from app.cli.judging import judge_directory
from app.cli.root import Root
from app.services.local.changes import commit_of, lay_out_commit
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.sources.local import no_such_commit

_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class PushedRef:
    """One input line from git: the pushed reference and the remote's state."""

    local_ref: str
    commit: str
    remote_ref: str
    remote_commit: str

    @property
    def deletes(self) -> bool:
        """Return True if the push only deletes the remote's reference."""
        return not self.commit.strip("0")


@dataclass(frozen=True, slots=True)
class RefVerdict:
    """The verdict on one pushed reference."""

    ref: str
    verdict: str
    text: str


def read_refs(text: str) -> list[PushedRef]:
    """Parse git's input to the hook.

    Raises:
        CliError: a line has another form.
    """
    found: list[PushedRef] = []
    # A name may hold other white space, and the first one may be an expression such as `main@{2 days ago}`.
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.rsplit(" ", 3)
        if not line:
            continue
        if len(parts) != 4 or not (_COMMIT.fullmatch(parts[1]) and _COMMIT.fullmatch(parts[3])):
            raise CliError(f"standard input:{number}: {line[:200]!r} is not what git writes to pre-push")
        found.append(PushedRef(*parts))
    return found


async def judge_push(
    root: Root,
    directory: Path,
    refs: Sequence[PushedRef],
    remote: str,
    base: str | None,
    *,
    deterministic_only: bool,
) -> list[RefVerdict]:
    """Judge every pushed commit, without the working tree's uncommitted changes.

    Raises:
        CliError, PhaseRunnerError: a commit cannot be judged.
    """
    git, project = Git.find(), await find_project(directory)
    verdicts: list[RefVerdict] = []
    for each in {ref.commit: ref for ref in refs if not ref.deletes}.values():
        start = await _base(project, each, remote, base, git)
        if start == each.commit:
            continue
        place = Path(await anyio.mkdtemp(prefix="phaserunner-push-"))
        try:
            clone = await lay_out_commit(project, each.commit, start, place, git)
            fields = {"base": start, "deterministic_only": deterministic_only}
            judged = await judge_directory(root, clone, fields)
        finally:
            with anyio.CancelScope(shield=True):
                await remove_tree(place)
        lines = [
            f"{f.place}: {f.message}" if f.place else f.message for f in judged.findings if f.level != "note"
        ]
        text = "\n".join([judged.report.reason, *lines[:20]])
        verdicts.append(RefVerdict(each.local_ref, judged.report.verdict, text))
    return verdicts


async def _base(project: Path, ref: PushedRef, remote: str, base: str | None, git: Git) -> str | None:
    """Return the base: the named one, the remote's commit, or the merge base with the default branch."""
    if base is not None:
        found = await commit_of(project, base, git)
        if found is None:
            raise CliError(f"base: {await no_such_commit(base, project, git)}")
        return found
    if ref.remote_commit.strip("0") and await commit_of(project, ref.remote_commit, git):
        return ref.remote_commit
    for name in (
        f"refs/remotes/{remote}/HEAD",
        f"refs/remotes/{remote}/main",
        f"refs/remotes/{remote}/master",
    ):
        common = await git.attempt(["merge-base", ref.commit, name], GitTarget(None), cwd=project)
        if common.returncode == 0:
            return common.stdout.decode("ascii", "replace").strip()
    return None
