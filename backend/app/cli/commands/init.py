"""`init`: writes a project's phaserunner.toml with gates that ran at its base."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import anyio.to_thread
from cyclopts import Parameter

from app.cli.exits import CliError, ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.cli.terminal import Terminal
from app.schemas.project_file import PROJECT_FILE

if TYPE_CHECKING:
    from app.runners.evaluators.protocol import EvaluationResult
    from app.services.local.gate_candidates import GateCandidate, ProjectFiles
    from app.services.local.gate_plan import Tried

_RUNS = 3
_Flag = Parameter(negative="")


async def init(
    path: Path = Path(),
    /,
    *,
    check: Annotated[bool, _Flag] = False,
    force: Annotated[bool, _Flag] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Try the gates that a project could have, at its last commit, and write its phaserunner.toml.

    Args:
        path: The project, in a git repository.
        check: Write nothing; show what has changed since the file was written, with exit code 1.
        force: Replace an existing file.
    """
    project = Path(root.absolute(path))
    file = project / PROJECT_FILE
    existing = await anyio.to_thread.run_sync(_existing, file)
    if existing is None and check:
        raise CliError(f"there is no {file}; phaserunner init writes one")
    if existing is not None and not check and not force:
        raise CliError(f"{file} exists; --check compares it, --force replaces it")
    terminal = root.terminal(options)
    found, tried = await _try(root, project, terminal)
    if check:
        return _report(terminal, existing or "", tried)
    from app.services.local.gate_plan import CHECK_HINT, project_file, summary  # noqa: PLC0415 - only to write

    try:
        await anyio.Path(file).write_text(project_file(tried), encoding="utf-8")
    except OSError as error:
        raise CliError(f"{file} cannot be written: {error.strerror}") from error
    lines = [*summary(found, tried), CHECK_HINT]
    if terminal.as_json:
        terminal.json({"file": str(file), "summary": lines})
    else:
        for each in lines:
            terminal.line(each)
    return ExitCode.PASSED


def _report(terminal: Terminal, existing: str, tried: "Sequence[Tried]") -> int:
    from app.services.local.gate_plan import differences  # noqa: PLC0415 - only to compare

    try:
        found = differences(existing, tried)
    except ValueError as error:
        raise CliError(f"{PROJECT_FILE} is not TOML: {error}") from error
    if terminal.as_json:
        terminal.json({"differences": found})
    else:
        for each in found or [f"{PROJECT_FILE} still fits"]:
            terminal.line(each)
    return ExitCode.FAILED if found else ExitCode.PASSED


def _existing(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{file} cannot be read: {error}") from error


async def _try(root: Root, project: Path, terminal: Terminal) -> "tuple[ProjectFiles, list[Tried]]":
    """Run every candidate gate in a copy of the last commit."""
    from app.services.local.changes import commit_of, lay_out_commit  # noqa: PLC0415 - only to try
    from app.services.local.gate_candidates import read_project  # noqa: PLC0415 - only to try
    from app.services.local.gate_plan import tried  # noqa: PLC0415 - only to try
    from app.workspaces.files.removal import remove_tree  # noqa: PLC0415 - only to try
    from app.workspaces.history.git import Git  # noqa: PLC0415 - only to try

    if not await anyio.Path(project).is_dir():
        raise CliError(f"path: {project} is not a directory")
    git = Git.find()
    commit = await commit_of(project, "HEAD", git)
    if commit is None:
        told = "is not in a git repository with a commit, so there is no base; run `git init`, and commit"
        raise CliError(f"path: {project} {told}")
    place = Path(await anyio.mkdtemp(prefix="phaserunner-init-"))
    try:
        copy = await lay_out_commit(project, commit, None, place, git)
        found = await anyio.to_thread.run_sync(read_project, copy)
        results = await _results(root, copy, found.candidates, terminal)
    finally:
        with anyio.CancelScope(shield=True):
            await remove_tree(place)
    return found, [tried(each, results.get(each.name, [])) for each in found.candidates]


async def _results(
    root: Root, copy: Path, candidates: "Sequence[GateCandidate]", terminal: Terminal
) -> "dict[str, list[EvaluationResult]]":
    from app.runners.evaluators.protocol import EvaluationResult  # noqa: PLC0415 - only to try
    from app.schemas.api.workspace_reports import EvaluateRequest  # noqa: PLC0415 - only to try
    from app.services.local.gate_plan import trial_file  # noqa: PLC0415 - only to try

    if not candidates:
        return {}
    await anyio.Path(copy, PROJECT_FILE).write_text(trial_file(candidates), encoding="utf-8")
    request = EvaluateRequest(path=str(copy), deterministic_only=True)
    results: dict[str, list[EvaluationResult]] = {}
    async with root.judging() as judging:
        for number in range(1, _RUNS + 1):
            terminal.say(f"Run {number} of {_RUNS}: {', '.join(each.name for each in candidates)}", "dim")
            report = await judging.judge(request)
            for each in report.evaluations:
                result = EvaluationResult.model_validate(each.result)
                results.setdefault(result.evaluator_name, []).append(result)
    return results
