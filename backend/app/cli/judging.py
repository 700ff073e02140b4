"""Evaluates a directory on this machine, for every command that needs a verdict."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.exits import ExitCode
from app.cli.given import read_given
from app.cli.root import Root

if TYPE_CHECKING:
    from app.cli.formats.report import JudgedReport

_CODES = {"passed": ExitCode.PASSED, "failed": ExitCode.FAILED, "asks": ExitCode.WAITING}


def exit_code_of(verdict: str) -> ExitCode:
    """Return the exit code for a verdict. *errored* is no verdict: the work neither passed nor failed."""
    return _CODES.get(verdict, ExitCode.INFRASTRUCTURE)


async def judge_directory(root: Root, path: Path, fields: Mapping[str, Any]) -> "JudgedReport":
    """Evaluate a directory. Return the report and its findings, with paths relative to the repository.

    Args:
        root: the process's settings and streams.
        path: the directory.
        fields: other fields of the request. Fields that are None count as not given.

    Raises:
        CliError: a field is not valid.
        InvalidInputError, WorkspaceError: the path or the base cannot be used.
    """
    # Imported here, because help does not need it.
    from importlib.metadata import version  # noqa: PLC0415 - only to evaluate

    from app.cli.formats.report import JudgedReport  # noqa: PLC0415 - only to evaluate
    from app.schemas.api.workspace_reports import EvaluateRequest  # noqa: PLC0415 - only to evaluate
    from app.services.local.changes import repository_prefix  # noqa: PLC0415 - only to evaluate
    from app.workspaces.history.git import Git  # noqa: PLC0415 - only to evaluate
    from app.workspaces.together import together  # noqa: PLC0415 - only to evaluate

    absolute = root.absolute(path)
    request = read_given(EvaluateRequest, {**fields, "path": absolute})
    async with root.judging() as judging:
        report, prefix = await together(judging.judge(request), repository_prefix(Path(absolute), Git.find()))
    return JudgedReport.of(report, version("phaserunner"), prefix)
