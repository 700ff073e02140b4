"""Finds where git looks for a repository's hooks."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import anyio

from app.cli.exits import CliError, ExitCode
from app.workspaces.process import run_process

_SECONDS = 30.0


async def pre_push_path(project: Path) -> Path:
    """Return the file of a repository's pre-push hook, according to `core.hooksPath`.

    Raises:
        CliError: git is missing, this is no repository, or other repositories share its hooks directory.
    """
    git = shutil.which("git")
    if git is None:
        raise CliError("git is not installed or not in PATH; install it", ExitCode.INFRASTRUCTURE)
    path, common, top = [
        await _ask(git, project, asked)
        for asked in (["--git-path", "hooks/pre-push"], ["--git-common-dir"], ["--show-toplevel"])
    ]
    if path is None or common is None or top is None:
        raise CliError(f"path: {project} is not a git repository with files; run: git init")
    if not (path.is_relative_to(common) or path.is_relative_to(top)):
        raise CliError(f"core.hooksPath: {path.parent} is outside of the repository; others may use it, too")
    return path


async def _ask(git: str, project: Path, asked: Sequence[str]) -> Path | None:
    # The user's own configuration is read, because it can set the hooks directory.
    env = {"PATH": f"{Path(git).parent}:/usr/bin:/bin", "HOME": str(Path.home()), "LC_ALL": "C"}
    outcome = await run_process([git, "rev-parse", *asked], cwd=project, env=env, timeout=_SECONDS)
    if outcome.returncode:
        return None
    return Path(await anyio.Path(project, outcome.stdout.rstrip("\n")).resolve())
