"""`usage`: shows what a run consumed, by attempt and model, and what is left of its budgets."""

from collections.abc import Sequence

from app.cli.exits import ExitCode
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line
from app.cli.view.words import money, plural
from app.schemas.api.usage import BudgetLine, ModelUsage, RunUsage, UsagePart

_SCOPES = {"run": "this run", "project_day": "its project, today", "installation_day": "all projects, today"}


async def usage(run: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Show what a run consumed so far, by attempt and model, and its budgets.

    Args:
        run: Its id, or at least the first 6 characters of it.
    """
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        document = await session.api.json("GET", f"/runs/{run_id}/usage")
        if session.terminal.as_json:
            session.terminal.json(document)
        else:
            for line in usage_lines(RunUsage.model_validate(document)):
                session.terminal.line(line)
    return ExitCode.PASSED


def usage_lines(found: RunUsage) -> list[str]:
    """Return what a run consumed as text: its sum, its budgets, then each attempt, role and model."""
    return [
        f"total    {consumed_words(found.total)}",
        *map(budget_words, found.budgets),
        *_part_lines(found.parts),
    ]


def budget_words(line: BudgetLine) -> str:
    """Word one budget and how much of it is spent."""
    whose = _SCOPES[line.scope]
    share = line.spent / line.budget
    if line.unit == "tokens":
        amounts = f"{line.spent:,.0f} of {plural(round(line.budget), 'token')}"
    else:
        amounts = f"{money(line.spent)} of {money(line.budget)}"
    return f"budget   {amounts} ({share:.0%}) for {whose}"


def consumed_words(part: ModelUsage) -> str:
    """Word cost, tokens and requests. An unknown cost is not shown as zero."""
    cost = "cost unknown" if part.cost_usd is None else money(part.cost_usd, 4)
    if part.cost_usd is not None and part.unknown_costs:
        cost += f" and {plural(part.unknown_costs, 'request')} of unknown cost"
    tokens = f"{plural(part.input_tokens, 'token')} in, {part.output_tokens:,} out"
    failed = f", {part.failed_requests} failed" if part.failed_requests else ""
    return f"{cost}, {tokens}, {plural(part.requests, 'request')}{failed}"


def _part_lines(parts: Sequence[UsagePart]) -> list[str]:
    return [f"{_place(each):<24} {_who(each)}: {consumed_words(each)}" for each in parts]


def _place(part: UsagePart) -> str:
    if part.phase is None or part.attempt is None:
        return "outside of attempts"
    candidate = f" candidate {part.candidate + 1}" if part.candidate else ""
    return f"{one_line(part.phase)}/{part.attempt}{candidate}"


def _who(part: UsagePart) -> str:
    model = one_line(part.model) or "as the agent reports"
    return f"{part.role.value}, {model}"
