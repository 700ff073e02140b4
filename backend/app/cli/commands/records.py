"""`evaluators show` and `evaluators verdicts`: show an evaluator's verdicts, and how many were wrong."""

from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import quote

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line
from app.cli.view.words import latency_words, look, share_words
from app.schemas.api.attempts import EvaluationStatusName
from app.schemas.api.evaluators import EvaluatorDetail, VerdictPage, VerdictView


async def show(name: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Show an evaluator with its track record: its newest 1,000 verdicts and their marks.

    Args:
        name: The evaluator.
    """
    async with root.session(options) as session:
        document = await session.api.json("GET", f"/evaluators/{quote(name, safe='')}")
        terminal = session.terminal
        if terminal.as_json:
            terminal.json(document)
            return ExitCode.PASSED
        for line in record_lines(EvaluatorDetail.model_validate(document)):
            terminal.line(line)
    return ExitCode.PASSED


async def verdicts(
    name: str,
    /,
    *,
    status: list[EvaluationStatusName] | None = None,
    marked: Literal["any", "none", "right", "wrong_pass", "wrong_fail"] | None = None,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=200))] = 20,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List an evaluator's verdicts, newest first, with the run and attempt for `mark`.

    Args:
        name: The evaluator.
        status: Only verdicts with this status; repeatable.
        marked: Only verdicts whose newest mark is this; any and none ask whether there is a mark.
        limit: The largest number of verdicts.
    """
    given: dict[str, str | list[str]] = {"limit": str(limit)}
    given |= {"status": list(status)} if status else {}
    given |= {"mark": marked} if marked else {}
    async with root.session(options) as session:
        path = f"/evaluators/{quote(name, safe='')}/verdicts"
        document = await session.api.json("GET", path, params=given)
        terminal = session.terminal
        if terminal.as_json:
            terminal.json(document)
            return ExitCode.PASSED
        items = VerdictPage.model_validate(document).items
        for each in items:
            terminal.line(_verdict_line(each), look(each.evaluation.status).style)
        if not items:
            terminal.say("No verdict matches these filters" if status or marked else "It has no verdicts yet")
    return ExitCode.PASSED


def record_lines(evaluator: EvaluatorDetail) -> Iterator[str]:
    """Yield a track record as lines of text."""
    record, registered = evaluator.record, evaluator.registered
    known = "not registered here; known from its verdicts"
    if registered is not None:
        part = "gate" if registered.gate else "observed" if registered.observed else "adviser"
        known = f"{part}, version {one_line(registered.version)}, {one_line(registered.source)}"
    yield f"{one_line(evaluator.name)}    {known}"
    yield f"  verdicts     {record.verdicts}, the newest"
    shares = {
        "passed": record.passed,
        "failed": record.failed,
        "errored": record.errored,
        "skipped": record.skipped,
    }
    for name, share in shares.items():
        yield f"  {name:<12} {share_words(share)}"
    yield f"  took         {latency_words(record.latency)}"
    yield f"  wrong passes {share_words(record.marked.wrong_passes)} of the marked"
    yield f"  wrong fails  {share_words(record.marked.wrong_fails)} of the marked"


def _verdict_line(verdict: VerdictView) -> str:
    evaluation = verdict.evaluation
    marks = ", ".join(
        f"{one_line(each.marked_by)}: {each.kind.replace('_', ' ').replace('false', 'wrong')}"
        for each in evaluation.marks
    )
    place = f"{str(verdict.run_id)[:8]}  {one_line(verdict.phase)}/{verdict.attempt}"
    other = "" if verdict.chosen else f" candidate {verdict.candidate}, not chosen"
    told = f"  [{marks}]" if marks else ""
    return f"{place}{other}  {evaluation.status:<8} {one_line(verdict.run_name, 60)}{told}"
