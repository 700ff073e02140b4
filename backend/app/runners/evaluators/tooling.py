"""What every evaluator that runs a tool needs: the workspace, a clean environment, a scratch directory."""

import os
import re
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, Evaluator, skipped
from app.workspaces.process import ProcessOutcome, run_process

MOST_STRETCHED = 4.0
"""The factor by which a time limit can grow at most on a busy machine."""

_TEXT_CHARS = 1000
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class ToolTroubleError(Exception):
    """A tool gave no usable report: missing, crashed, out of time, unreadable. This is never a pass."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A directory outside the workspace in which a tool may leave files.

    Attributes:
        path: the directory itself, for the evaluator's own files.
        env: a complete environment: no secrets, home and temporary files inside the directory.
    """

    path: Path
    env: Mapping[str, str]


def activation(python: Path) -> dict[str, str]:
    """Return the variables that a shell has while the environment of this interpreter is active."""
    environment = python.parent.parent
    variables = {"PATH": _search_path(python)}
    if (environment / "pyvenv.cfg").is_file():
        variables["VIRTUAL_ENV"] = str(environment)
    return variables


def _search_path(python: Path) -> str:
    return f"{python.parent}:/usr/local/bin:/usr/bin:/bin"


@contextmanager
def scratch(python: Path) -> Generator[Scratch]:
    """Create a scratch directory, and remove it afterwards.

    `python`'s directory comes first on the search path.
    """
    with tempfile.TemporaryDirectory(prefix="evaluate-", ignore_cleanup_errors=True) as name:
        path = Path(name)
        home, temporary = path / "home", path / "tmp"
        home.mkdir()
        temporary.mkdir()
        yield Scratch(
            path=path,
            env={
                "PATH": _search_path(python),
                "HOME": str(home),
                "TMPDIR": str(temporary),
                "LANG": "C.UTF-8",
                "LC_ALL": "C.UTF-8",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )


async def run_tool(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    output_limit: int = 8_000_000,
    niceness: int = 0,
) -> ProcessOutcome:
    """Run a tool to its end. With a `niceness`, other processes of the machine go first.

    Raises:
        ToolTroubleError: it is missing, cannot be started, or did not finish in time.
    """
    tool = _name_of(argv)
    try:
        outcome = await run_process(
            argv, cwd=cwd, env=env, timeout=timeout, output_limit=output_limit, niceness=niceness
        )
    except (FileNotFoundError, PermissionError) as error:
        raise ToolTroubleError(f"{tool} cannot be started: {error.strerror}") from error
    if outcome.timed_out:
        raise ToolTroubleError(f"{tool} did not finish within {timeout:.4g} seconds")
    return outcome


def _name_of(argv: Sequence[str]) -> str:
    """Return the name of a program, or of the module that Python runs as one."""
    program = Path(argv[0]).name
    is_module = program.startswith("python") and "-m" in argv[:-1]
    return argv[argv.index("-m") + 1] if is_module else program


def find_workspace(evaluator: Evaluator, context: EvaluationContext, purpose: str) -> Path | EvaluationResult:
    """Return the judged tree, or a result that says why there is none.

    `purpose` completes the sentence "No workspace to".
    """
    named = context.get("workspace_ref")
    if not named:
        return skipped(evaluator, f"No workspace to {purpose}")
    path = Path(named)
    if not path.is_dir():
        return EvaluationResult(
            evaluator_name=evaluator.name,
            category=evaluator.category,
            passed=False,
            feedback=f"Workspace not found: {named}",
        )
    return path.absolute()


def find_base(context: EvaluationContext) -> Path | None:
    """Return the tree with the base commit, or None if there is none.

    Raises:
        ToolTroubleError: the named tree does not exist; without it old findings would count as new.
    """
    named = context.get("base_ref")
    if not named:
        return None
    path = Path(named)
    if not path.is_dir():
        raise ToolTroubleError(f"The base tree was not found: {named}")
    return path.absolute()


def seconds_for(context: EvaluationContext, default: float) -> float:
    """Return the time limit in seconds: the context's, or else the default."""
    return context.get("limits", {}).get("seconds", default)


def seconds_here_for(context: EvaluationContext, default: float) -> float:
    """Return the time limit of a program that runs here.

    It is that of `seconds_for`, but longer if the machine is busy.
    """
    named = context.get("limits", {}).get("seconds")
    return stretched(default) if named is None else named


def stretched(seconds: float) -> float:
    """Return a limit for an idle machine in seconds of this one, with its present load.

    If more processes want to run than there are processors, each gets only a share, and a wall-clock limit
    would measure the other processes. So the limit grows, by at most the factor `MOST_STRETCHED`.
    """
    try:
        waiting = os.getloadavg()[0]
    except OSError:  # the system does not provide the load
        return seconds
    factor = min(MOST_STRETCHED, waiting / (os.cpu_count() or 1))
    longer = seconds * max(1.0, factor)
    return longer if longer < 1 else round(longer, 1)


def excerpt(text: str, limit: int = _TEXT_CHARS) -> str:
    """Return the end of a tool's output, where the reason usually is, without colours."""
    text = _COLOURS.sub("", text).strip()
    return text if len(text) <= limit else f"…{text[-limit:]}"
