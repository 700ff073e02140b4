"""Plans how an agent is started: command line, environment and files, with all placeholders filled."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.agents.external.home import remove
from app.agents.external.installed import Installed, PythonPlaces
from app.agents.external.profile import AgentProfile, DriverKind, PromptBy, fill
from app.agents.port import AgentTask

_BASE_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_MAX_ARGUMENT_BYTES = 100_000
"""Linux accepts at most 128 KiB in one argument."""

_PROMPT_FILE = ".phaserunner-prompt.md"
_POINTER = "Do what the file {path} asks for. Read all of it first."


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """One start of an agent.

    Attributes:
        argv: the command line.
        env: the environment.
        home: its home directory.
        workspace: where it works.
        readable: what it may read besides the system's directories.
        files: files to write before it starts: content by path.
        prompt: its prompt.
        stdin: its standard input; None for nothing.
        resume: the conversation to continue.
        link: the path of its login in its home directory, and the directory to which that path links.
    """

    argv: list[str]
    env: Mapping[str, str]
    home: Path
    workspace: Path
    readable: tuple[Path, ...]
    files: Mapping[Path, str]
    prompt: str
    stdin: str | None
    resume: str | None = None
    link: tuple[Path, Path] | None = None


def plan_launch(
    profile: AgentProfile,
    installed: Installed,
    task: AgentTask,
    *,
    home: Path,
    values: Mapping[str, str],
    python_places: PythonPlaces,
    resume: str | None = None,
) -> LaunchPlan:
    """Fill in a profile for one task.

    Args:
        profile: the profile.
        installed: the program.
        task: the prompt, the workspace and its interpreter.
        home: an empty directory.
        values: the model, and the address and the token of the gateway.
        python_places: the directories that the tests' interpreter needs.
        resume: the conversation to continue.
    """
    words = {
        **values,
        "home": str(home),
        "workspace": str(task.workspace),
        "package": str(installed.package),
        "prompt_file": str(home / _PROMPT_FILE),
        "session": resume or "",
    }
    argv = profile.argv if resume is None or profile.resume is None else profile.resume
    prompt = f"{task.system_prompt}\n\n{task.prompt}" if task.system_prompt else task.prompt
    by = profile.prompt if profile.driver is DriverKind.COMMAND else PromptBy.STDIN
    files = {Path(fill(name, words)): fill(content, words) for name, content in profile.files.items()}
    argument = prompt
    if by is PromptBy.ARGUMENT and len(prompt.encode("utf-8", "replace")) > _MAX_ARGUMENT_BYTES:
        argument = fill(_POINTER, {"path": words["prompt_file"]})
    if by is PromptBy.FILE or argument is not prompt:
        files[Path(words["prompt_file"])] = prompt
    # The prompt is filled last and once, because it may contain words in braces itself.
    arguments = [fill(each, {**words, "prompt": argument}) for each in argv[1:]]
    python = task.python
    path = [*installed.path, *([python.parent] if python is not None else []), *_BASE_PATH]
    return LaunchPlan(
        argv=[str(installed.program), *arguments],
        env={
            "PATH": os.pathsep.join(dict.fromkeys(map(str, path))),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "CI": "1",
            **{name: fill(value, words) for name, value in profile.env.items()},
        },
        home=home,
        workspace=task.workspace,
        readable=(
            *installed.readable,
            *(Path(fill(each, words)) for each in profile.readable),
            *(python_places(python) if python is not None else ()),
        ),
        files=files,
        prompt=prompt,
        stdin=prompt if by is PromptBy.STDIN else None,
        resume=resume,
    )


def write_files(plan: LaunchPlan) -> None:
    """Write the files that the agent needs in its home directory.

    The agent may have used a kept home directory before. Links that it left are removed, never followed.
    """
    for path, content in plan.files.items():
        _make_way(path, plan.home)
        path.write_text(content, encoding="utf-8", errors="replace")
    if plan.link is not None:
        place, login = plan.link
        _make_way(place, plan.home)
        place.symlink_to(login)


def _make_way(path: Path, home: Path) -> None:
    """Create the directories above a path. Remove what is in its place or in theirs."""
    for above in reversed([each for each in path.parents if each != home and each.is_relative_to(home)]):
        if above.is_symlink() or not above.is_dir():
            above.unlink(missing_ok=True)
            above.mkdir()
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        remove(path)
