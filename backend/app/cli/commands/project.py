"""`evaluators check`, `evaluators --path` and `schema`: handle a project's own file."""

from pathlib import Path
from typing import Any

import anyio.to_thread

from app.cli.exits import CliError, ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.composition.judging_tools import project_panel
from app.runners.evaluators.project.project_file import ProjectFileProblem, json_schema
from app.runners.project import ProjectPanel, read_from_tree
from app.schemas.project_file import PROJECT_FILE


async def check(path: Path = Path(), /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Check a project's phaserunner.toml against this machine's settings; errors name line and key.

    Args:
        path: The project, or its phaserunner.toml.
    """
    panel = await _panel(root, path)
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json({"valid": not panel.problems, "problems": [_as_dict(each) for each in panel.problems]})
    else:
        for each in panel.problems:
            terminal.say(str(each), "red")
        if not panel.problems:
            count = len(panel.settings.command)
            terminal.line(f"{PROJECT_FILE} is valid; commands: {count}")
    return ExitCode.USAGE if panel.problems else ExitCode.PASSED


def schema(*, root: RootArgument) -> int:
    """Print the JSON Schema of phaserunner.toml."""
    root.terminal(Options(as_json=True)).json(json_schema())
    return ExitCode.PASSED


async def describe(root: Root, path: Path) -> dict[str, Any]:
    """Return the evaluators of a project in the form of the API's list.

    Raises:
        CliError: the project's file cannot be used.
    """
    panel = await _panel(root, path)
    if panel.problems:
        raise CliError("; ".join(map(str, panel.problems)))
    return {
        "items": [
            {
                "name": each.name,
                "version": each.version,
                "category": each.category.value,
                "deterministic": each.deterministic,
                "gate": each.gate,
                "observed": each.observed,
                "phases": list(each.phases) if each.phases is not None else None,
                "source": each.source,
            }
            for each in panel.registry.describe()
        ]
    }


async def _panel(root: Root, given: Path) -> ProjectPanel:
    path = Path(root.absolute(given))
    directory = path.parent if path.name == PROJECT_FILE else path
    content = await anyio.to_thread.run_sync(read_from_tree, directory)
    if content is None:
        raise CliError(f"there is no {PROJECT_FILE} in {directory}")
    return project_panel(root.settings, content)


def _as_dict(problem: ProjectFileProblem) -> dict[str, Any]:
    return {"line": problem.line, "key": problem.key, "message": problem.message}
