"""Adds a result to the user's repository as a branch, without touching its working tree and index."""

import os
import re
import shutil
from pathlib import Path

import anyio

from app.cli.exits import CliError, ExitCode
from app.cli.view.text import one_line
from app.workspaces.process import ProcessOutcome, run_process

_SECONDS = 120.0
_QUIET = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
)
_HEAD = re.compile(r"(?P<commit>[0-9a-f]{40,64}) (?P<ref>\S+)")


async def fetch_branch(bundle: Path, repository: Path, branch: str) -> str:
    """Make `branch` in `repository` point to the commit in `bundle`.

    An existing branch is only moved forward, and never while it is checked out.

    Returns:
        The commit.

    Raises:
        CliError: the name is not a branch name, the branch exists with other commits, this is not a
            repository, or
            the repository lacks the commit on which the result builds.
    """
    if not await anyio.Path(repository).is_dir():
        raise CliError(f"--repo: {repository} is not a directory")
    if (await _git(repository, "check-ref-format", f"refs/heads/{branch}")).returncode or branch.startswith(
        "-"
    ):
        raise CliError(f"--branch: {branch!r} is not a branch name")
    if (await _git(repository, "rev-parse", "--git-dir")).returncode:
        raise CliError(f"--repo: {repository} is not a git repository")
    listed = await _git(repository, "bundle", "list-heads", str(bundle))
    match = _HEAD.match(listed.stdout)
    if listed.returncode or match is None:
        raise CliError("the service sent no git bundle", ExitCode.TRANSPORT)
    spec = f"{match['ref']}:refs/heads/{branch}"
    fetched = await _git(
        repository,
        "fetch",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        str(bundle),
        spec,
    )
    if fetched.returncode:
        raise CliError(_explain(fetched.stderr, branch, repository))
    return match["commit"]


def _explain(stderr: str, branch: str, repository: Path) -> str:
    if "non-fast-forward" in stderr or "rejected" in stderr:
        return f"--branch: {branch} exists and holds other commits; choose another name"
    if "checked out" in stderr:
        return f"--branch: {branch} is checked out; choose another name"
    if "lacks these prerequisite commits" in stderr:
        return f"--repo: {repository} lacks the commit that the run started from; is it the right repository?"
    return f"git fetch failed: {one_line(stderr, 500)}"


async def _git(repository: Path, *arguments: str) -> ProcessOutcome:
    git = shutil.which("git")
    if git is None:
        raise CliError("git is not installed", ExitCode.INFRASTRUCTURE)
    env = {"PATH": os.defpath, "HOME": str(Path.home()), "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    return await run_process([git, *_QUIET, *arguments], cwd=repository, env=env, timeout=_SECONDS)
