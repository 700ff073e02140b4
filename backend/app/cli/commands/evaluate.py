"""`evaluate`: evaluates a directory without a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from app.cli.exits import ExitCode
from app.cli.given import read_given
from app.cli.held_out import held_out_from
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.terminal import Terminal
from app.cli.view.tables import verdict_lines
from app.cli.view.text import one_line
from app.cli.view.words import look
from app.schemas.runs import Phase

if TYPE_CHECKING:
    from app.schemas.api.workspace_reports import EvaluationReport

_CODES = {"passed": ExitCode.PASSED, "failed": ExitCode.FAILED, "asks": ExitCode.WAITING}
_SOURCE_LINES = 40


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Against:
    """What a directory is held against.

    Attributes:
        base: Git reference in the project; issues that exist there do not count.
        held_out: Patch, or directory of files, with further tests to judge by; needs --base.
    """

    base: str | None = None
    held_out: Path | None = None


async def evaluate(
    path: Path,
    /,
    *,
    against: Against = Against(),
    phase: Phase = Phase.CODING,
    goal: str = "",
    deterministic_only: Annotated[bool, Parameter(negative="")] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Evaluate a directory as a sprint would, without server or database.

    Args:
        path: The project.
        phase: The phase whose evaluators run.
        goal: The purpose of the work, for evaluators that use it.
        deterministic_only: Use tools only, no models.
    """
    # The help does without what evaluates.
    from app.composition.services import evaluation_service  # noqa: PLC0415 - only to evaluate: it imports the tools
    from app.schemas.api.workspace_reports import EvaluateRequest  # noqa: PLC0415 - only to evaluate

    held_out = against.held_out
    fields = {
        "path": root.absolute(path),
        "base": against.base,
        "phase": phase,
        "goal": goal,
        "deterministic_only": deterministic_only,
        "held_out": held_out_from(Path(root.absolute(held_out))) if held_out else None,
    }
    request = read_given(EvaluateRequest, fields)
    terminal = root.terminal(options)
    async with evaluation_service(root.settings) as service:
        report = await service.judge(request)
    if terminal.as_json:
        terminal.json(report.model_dump(mode="json"))
    else:
        _write(terminal, report)
    # Errored: there is no verdict, so the work neither passed nor failed.
    return _CODES.get(report.verdict, ExitCode.INFRASTRUCTURE)


def _write(terminal: Terminal, report: "EvaluationReport") -> None:
    from app.runners.evaluators.protocol import EvaluationResult  # noqa: PLC0415 - only to evaluate

    for each in report.evaluations:
        result = EvaluationResult.model_validate(each.result)
        for text, style in verdict_lines(
            result.evaluator_name,
            result.status.value,
            each.gate,
            result.score,
            result.feedback,
            result.suggestions,
            result.duration_ms,
        ):
            terminal.line(text, style)
    for asked in report.questions:
        terminal.line(f"? {asked.text}", "yellow")
        for sign, source, style in (("-", asked.before, "red"), ("+", asked.after, "green")):
            for line in source.splitlines()[:_SOURCE_LINES]:
                terminal.line(f"  {sign} {line}", style)
    if report.held_out:
        terminal.line(report.held_out.in_words(), "yellow" if report.held_out.passing else "dim")
    if report.project_file:
        terminal.line(f"Configured by {report.project_file}", "dim")
    score = f", score {report.score:.2f}" if report.score is not None else ""
    appearance = look(report.verdict)
    words = f"{appearance.icon} {report.verdict}{score}: {one_line(report.reason, 500)}"
    terminal.line(words, f"bold {appearance.style}")
