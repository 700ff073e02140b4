"""`observe`: shows what observed gates would have blocked."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line
from app.cli.view.words import share_words
from app.schemas.api.observed import HumanWord, ObservedGate, ObserveReport, WouldBlock

app = App(name="observe")


@app.default
@app.command(name="report")
async def observe_report(
    *,
    days: Annotated[int | None, Parameter(validator=Number(gte=1, lte=36_500))] = None,
    project: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Show what observed gates would have blocked, and what reviewers overruled.

    Args:
        days: Only runs created in the last N days.
        project: Only runs of this source, written as `phaserunner show` prints it.
    """
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat() if days else None
    given = {"since": since, "project": project}
    params = {name: value for name, value in given.items() if value is not None}
    async with root.session(options) as session:
        document = await session.api.json("GET", "/metrics/observed", params=params)
        terminal = session.terminal
        if terminal.as_json:
            terminal.json(document)
            return ExitCode.PASSED
        report = ObserveReport.model_validate(document)
        for line in report_lines(report):
            terminal.line(line)
        if not report.gates:
            terminal.say("No gate was observed in these runs")
    return ExitCode.PASSED


def report_lines(report: ObserveReport) -> Iterator[str]:
    """Yield a report as text: figures of each gate, then the newest attempts that it would have blocked."""
    for gate in report.gates:
        yield from observed_lines(gate)
        yield from (_blocked(each) for each in report.would_block if each.evaluator == gate.evaluator)


def observed_lines(gate: ObservedGate) -> Iterator[str]:
    """Yield the figures of one observed gate as text."""
    verdicts = "verdict" if gate.verdicts == 1 else "verdicts"
    runs = "run" if gate.runs == 1 else "runs"
    yield f"{one_line(gate.evaluator)}    observed, {gate.verdicts} {verdicts}"
    yield f"  would block  {share_words(gate.would_block)}, in {gate.runs} {runs}"
    yield f"  overruled    {share_words(gate.overruled)}"
    yield f"  confirmed    {share_words(gate.confirmed)}"


def _blocked(each: WouldBlock) -> str:
    said = "" if each.word is HumanWord.NONE else f" [{each.word.value}]"
    where = f"{str(each.run_id)[:8]} {one_line(each.run_name)}, {one_line(each.phase)} {each.attempt}"
    return f"    {each.status} {where}{said}: {one_line(each.feedback)}"
