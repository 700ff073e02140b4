"""`evaluate`: evaluates a directory without a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from app.cli.exits import CliError
from app.cli.formats.names import ReportFormat
from app.cli.held_out import held_out_from
from app.cli.judging import exit_code_of, judge_directory
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.cli.terminal import Terminal
from app.cli.view.baselines import baseline_lines
from app.cli.view.questions import question_lines
from app.cli.view.tables import state_of, verdict_lines
from app.cli.view.text import one_line
from app.cli.view.words import look, part_of, plural
from app.schemas.questions import ASKED
from app.schemas.runs import Phase

if TYPE_CHECKING:
    from app.cli.formats.report import JudgedReport
    from app.schemas.api.workspace_reports import EvaluationReport


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BaseChoice:
    """What a directory is held against.

    Attributes:
        base: Git reference in the project; issues that exist there do not count.
        held_out: Patch, or directory of files, with further tests to judge by; needs --base.
        baseline: First run the tests of --base twice on its own code, and name those that fail there.
    """

    base: str | None = None
    held_out: Path | None = None
    baseline: Annotated[bool, Parameter(negative="")] = False


async def evaluate(  # noqa: PLR0913 - one parameter for each option
    path: Path,
    /,
    *,
    against: BaseChoice = BaseChoice(),
    phase: Phase = Phase.CODING,
    goal: str = "",
    deterministic_only: Annotated[bool, Parameter(negative="")] = False,
    output_format: Annotated[ReportFormat, Parameter(name="--format")] = ReportFormat.TEXT,
    report: Annotated[list[str] | None, Parameter(negative="")] = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Evaluate a directory as a sprint would, without server or database.

    Args:
        path: The project.
        phase: The phase whose evaluators run.
        goal: The purpose of the work, for evaluators that use it.
        deterministic_only: Use tools only, no models.
        output_format: The format of standard output.
        report: FORMAT=FILE: also write a report to this file; repeatable.
    """
    if options.as_json and output_format not in (ReportFormat.TEXT, ReportFormat.JSON):
        raise CliError(f"--format: {output_format.value} cannot be combined with --json; use one of them")
    targets = [_target(root, each) for each in report or ()]
    held_out = against.held_out
    fields = {
        "base": against.base,
        "phase": phase,
        "goal": goal,
        "deterministic_only": deterministic_only,
        "baseline": against.baseline,
        "held_out": held_out_from(Path(root.absolute(held_out))) if held_out else None,
    }
    judged = await judge_directory(root, path, fields)
    # The formats import modules that help does not need.
    from app.cli.formats.rendering import render  # noqa: PLC0415 - only to evaluate

    for wanted, file in targets:
        _save(file, render(judged, wanted))
    _show(root.terminal(options), judged, output_format)
    return exit_code_of(judged.report.verdict)


def _show(terminal: Terminal, judged: "JudgedReport", wanted: ReportFormat) -> None:
    from app.cli.formats.json_report import document  # noqa: PLC0415 - only to evaluate
    from app.cli.formats.rendering import render  # noqa: PLC0415 - only to evaluate

    if terminal.as_json or wanted is ReportFormat.JSON:
        terminal.json(document(judged))
    elif wanted is ReportFormat.TEXT:
        _write(terminal, judged.report)
    else:
        terminal.raw(render(judged, wanted))


def _target(root: Root, given: str) -> tuple[ReportFormat, Path]:
    """Parse FORMAT=FILE. Done before anything runs, so that a long evaluation does not lose its report."""
    name, equals, file = given.partition("=")
    formats = [each.value for each in ReportFormat if each is not ReportFormat.TEXT]
    if not equals or not file or name not in formats:
        raise CliError(f"--report: {given!r} is not FORMAT=FILE with one of {', '.join(formats)}")
    path = Path(root.absolute(Path(file)))
    if not path.parent.is_dir():
        raise CliError(f"--report: the directory {path.parent} does not exist")
    if path.is_dir():
        raise CliError(f"--report: {path} is a directory")
    return ReportFormat(name), path


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise CliError(f"--report: {path} cannot be written: {error.strerror}") from error


def _write(terminal: Terminal, report: "EvaluationReport") -> None:
    _write_results(terminal, report)
    for asked in report.questions:
        for text, style in question_lines(asked):
            terminal.prose(text, style)
    if report.baseline:
        for text, style in baseline_lines(report.baseline):
            terminal.prose(text, style)
    if report.held_out:
        terminal.prose(report.held_out.in_words(), "yellow" if report.held_out.passing else "dim")
    if report.project_file:
        terminal.line(f"Configured by {report.project_file}", "dim")
    _write_verdict(terminal, report)


def _write_results(terminal: Terminal, report: "EvaluationReport") -> None:
    from app.runners.evaluators.protocol import EvaluationResult  # noqa: PLC0415 - only to evaluate

    shown = frozenset(f"{ASKED}{each.text}" for each in report.questions)
    for each in report.evaluations:
        result = EvaluationResult.model_validate(each.result)
        said = [line for line in result.feedback.splitlines() if line not in shown]
        for text, style in verdict_lines(
            result.evaluator_name,
            state_of(result.status, result.metadata),
            part_of(gate=each.gate, observed=each.observed),
            result.score,
            "\n".join(said),
            result.suggestions,
            result.duration_ms,
        ):
            terminal.prose(text, style)


def _write_verdict(terminal: Terminal, report: "EvaluationReport") -> None:
    score = f", score {report.score:.2f}" if report.score is not None else ""
    appearance = look(report.verdict)
    asks = report.verdict == "asks"
    reason = f"{plural(len(report.questions), 'question')} for a person" if asks else report.reason
    words = f"{appearance.icon} {report.verdict}{score}: {one_line(reason, 500)}"
    terminal.prose(words, f"bold {appearance.style}")
