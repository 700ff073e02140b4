"""A run's ledger: what it has consumed, judges and subtasks included."""

from collections.abc import Sequence

from app.db.models import Escalation, Run
from app.runners.facts import Spent
from app.schemas.runs import EscalationDecision, EscalationReason, Usage


def run_usage(run: Run) -> Usage:
    """What a run has consumed, judges included."""
    return Usage(
        requests=run.used_requests,
        tool_calls=run.used_tool_calls,
        input_tokens=run.used_input_tokens,
        output_tokens=run.used_output_tokens,
        cost_usd=run.used_cost_usd,
    )


def spend(run: Run, usage: Usage) -> None:
    """Enter a consumption into the run's ledger."""
    run.used_requests += usage.requests
    run.used_tool_calls += usage.tool_calls
    run.used_input_tokens += usage.input_tokens
    run.used_output_tokens += usage.output_tokens
    if usage.cost_usd is not None:
        run.used_cost_usd = (run.used_cost_usd or 0.0) + usage.cost_usd


def spent(run: Run, escalations: Sequence[Escalation]) -> Spent:
    """What decisions need to know of it; a retry after an exhausted budget grants the budget again."""
    grants = sum(
        each.reason_kind == EscalationReason.BUDGET_EXHAUSTED and each.decision == EscalationDecision.RETRY
        for each in escalations
    )
    return Spent(
        tokens=run.used_input_tokens + run.used_output_tokens,
        cost_usd=run.used_cost_usd or 0.0,
        budget_grants=grants,
    )
