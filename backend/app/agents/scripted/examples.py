"""The examples that come with the program: small projects, each with a recorded agent for it."""

import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from app.agents.programs import RunProgram
from app.agents.scripted.script_file import load_script
from app.core.errors import InvalidInputError, NotFoundError, WorkspaceError
from app.schemas.agent_script import AgentScript

_APP = Path(__file__).resolve().parents[2]
# In a wheel the examples are inside the package; in a checkout they are at its root.
_PLACES = (_APP / "_examples", _APP.parents[1] / "examples")
_INDEX = "index.toml"
_GIT_SECONDS = 30.0

# The user's and the machine's git configuration is not used: no hooks, no signing, no templates.
_GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "PhaseRunner examples",
    "GIT_AUTHOR_EMAIL": "examples@phaserunner.invalid",
    "GIT_COMMITTER_NAME": "PhaseRunner examples",
    "GIT_COMMITTER_EMAIL": "examples@phaserunner.invalid",
    "HOME": os.devnull,
    "LANG": "C.UTF-8",
    "PATH": os.defpath,
}


@dataclass(frozen=True, slots=True)
class Example:
    """One example.

    Attributes:
        name: its name on the command line.
        title: one line for people.
        goal: the goal of its sprint.
        project: directory with the project's files; not a git repository.
        script: file of the recorded agent.
    """

    name: str
    title: str
    goal: str
    project: Path
    script: Path

    def load_script(self) -> AgentScript:
        """Read the recorded agent.

        Raises:
            InvalidInputError: the script is invalid.
        """
        return load_script(self.script)


def examples_directory() -> Path:
    """Return the directory of the examples, packaged or in a checkout.

    Raises:
        NotFoundError: this installation has none.
    """
    for place in _PLACES:
        if (place / _INDEX).is_file():
            return place
    raise NotFoundError("this installation comes without examples")


def list_examples(directory: Path | None = None) -> list[Example]:
    """Return the examples in the order of the index.

    Raises:
        NotFoundError: this installation has none.
    """
    root = directory or examples_directory()
    index: dict[str, Any] = tomllib.loads((root / _INDEX).read_text(encoding="utf-8"))
    return [
        Example(
            name=each["name"],
            title=each["title"],
            goal=each["goal"].strip(),
            project=root / each["project"],
            script=root / each["script"],
        )
        for each in index["examples"]
    ]


def find_example(name: str, directory: Path | None = None) -> Example:
    """Return the example with this name.

    Raises:
        NotFoundError: there is none. The message lists the existing ones.
    """
    examples = list_examples(directory)
    for example in examples:
        if example.name == name:
            return example
    known = ", ".join(each.name for each in examples)
    raise NotFoundError(f"there is no example {name!r}; there are {known}", field="name")


async def materialise_example(
    name: str, dest: Path, run_program: RunProgram, *, directory: Path | None = None
) -> Example:
    """Copy an example's project to `dest` and make it a git repository with one commit on `main`.

    Args:
        dest: a directory that does not exist yet, or is empty.
        run_program: starts git.

    Raises:
        NotFoundError: there is no such example.
        InvalidInputError: `dest` exists and is not empty.
        WorkspaceError: the files cannot be written, or git is missing or fails.
    """
    example = find_example(name, directory)
    try:
        await anyio.to_thread.run_sync(_copy, example.project, dest)
    except OSError as error:
        raise WorkspaceError(f"{dest}: the example cannot be written: {error}") from error
    for arguments in (
        ["init", "--quiet", "--initial-branch=main", "--template="],
        ["add", "--all"],
        [
            "-c",
            "commit.gpgsign=false",
            "commit",
            "--quiet",
            "--no-verify",
            f"--message=The project {example.project.name}",
        ],
    ):
        await _git(run_program, dest, arguments)
    return example


def _copy(project: Path, dest: Path) -> None:
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise InvalidInputError(f"{dest} is there already and not an empty directory", field="dest")
    shutil.copytree(project, dest, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", ".*"))


async def _git(run_program: RunProgram, repository: Path, arguments: list[str]) -> None:
    try:
        outcome = await run_program(
            [shutil.which("git") or "git", *arguments],
            cwd=repository,
            env=_GIT_ENVIRONMENT,
            timeout=_GIT_SECONDS,
            output_limit=20_000,
        )
    except OSError as error:
        raise WorkspaceError(f"git cannot be started: {error}") from error
    if outcome.timed_out or outcome.returncode != 0:
        detail = outcome.stderr.strip() or f"status {outcome.returncode}"
        raise WorkspaceError(f"git {arguments[0]} failed: {detail}")
