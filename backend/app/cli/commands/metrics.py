"""`metrics`: shows how reliable the gates are, how often people are asked, and what runs cost."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.commands.observe import observed_lines
from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line
from app.cli.view.words import NO_DATA, latency_words, money, plural, share_words
from app.schemas.api.metrics import (
    ConversationMetrics,
    EvaluatorMetrics,
    MetricsReport,
    OutcomeMetrics,
    PassRates,
)


async def metrics(
    *,
    days: Annotated[int | None, Parameter(validator=Number(gte=1, lte=36_500))] = None,
    project: str | None = None,
    agent: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Measure runs: pass@k, retries, escalations, evaluators, cost; each with n and 95 % interval.

    Args:
        days: Only runs created in the last N days.
        project: Only runs of this source, written as `phaserunner show` prints it.
        agent: Only runs of this agent, written as `phaserunner show` prints it.
    """
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat() if days else None
    given = {"since": since, "project": project, "agent": agent}
    async with root.session(options) as session:
        params = {name: value for name, value in given.items() if value is not None}
        document = await session.api.json("GET", "/metrics", params=params)
        terminal = session.terminal
        if terminal.as_json:
            terminal.json(document)
            return ExitCode.PASSED
        for line in metrics_lines(MetricsReport.model_validate(document)):
            terminal.line(line)
    return ExitCode.PASSED


def metrics_lines(report: MetricsReport) -> Iterator[str]:
    """Yield a report as lines of text. A figure without cases says so."""
    yield f"{plural(report.runs, 'run')}, {report.over} of them over"
    yield from _passes("whole runs", report.passes)
    for each in report.phases:
        yield from _passes(one_line(each.phase), each.passes)
        yield f"  retried    {share_words(each.retries.retried)}"
    asked = report.escalations
    yield f"escalated    {share_words(asked.rate)}"
    for reason, share in asked.reasons.items():
        if share.count:
            yield f"  {reason:<22} {share_words(share)}"
    yield f"  decided within         {latency_words(asked.time_to_decision)}; {asked.open} open now"
    for each in report.evaluators:
        yield from _evaluator(each)
    yield from _outcomes(report.outcomes)
    for each in report.conversations:
        yield from _conversations(each)
    for gate in report.observed:
        yield from observed_lines(gate)
    cost = report.spend.cost_usd
    total = NO_DATA if cost.total is None else money(cost.total)
    yield f"cost         {total}, known for {share_words(report.spend.cost_known)}"


def _passes(name: str, passes: PassRates) -> Iterator[str]:
    yield name
    for k, share in enumerate((passes.pass_at_1, passes.pass_at_2, passes.pass_at_3), 1):
        yield f"  pass@{k}     {share_words(share)}"


def _outcomes(outcomes: OutcomeMetrics) -> Iterator[str]:
    yield "pull requests that ended at least 30 days ago"
    for word, share in outcomes.shares.items():
        yield f"  {word.replace('_', ' '):<16} {share_words(share)}"
    later = [f"{count} {word.replace('_', ' ')}" for word, count in outcomes.recent.items() if count]
    if later:
        yield f"  ended since      {', '.join(later)}"


def _conversations(each: ConversationMetrics) -> Iterator[str]:
    if each.continued.of:
        yield f"retries of {one_line(each.agent)} that passed"
        yield f"  continued    {share_words(each.continued)}"
        yield f"  fresh        {share_words(each.fresh)}"


def _evaluator(each: EvaluatorMetrics) -> Iterator[str]:
    yield f"{one_line(each.evaluator)}    {plural(each.verdicts, 'verdict')}, {latency_words(each.latency)}"
    yield f"  failed       {share_words(each.failed)}"
    yield f"  errored      {share_words(each.errored)}"
    yield f"  wrong passes {share_words(each.wrong_passes)} of the marked"
    yield f"  wrong fails  {share_words(each.wrong_fails)} of the marked"
    if each.wrong_passes_by_outcome.of or each.wrong_fails_by_outcome.of:
        yield f"  wrong passes {share_words(each.wrong_passes_by_outcome)} by outcome of pull requests"
        yield f"  wrong fails  {share_words(each.wrong_fails_by_outcome)} by outcome of pull requests"
