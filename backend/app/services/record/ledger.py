"""A run's consumption, including judges and subtasks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

from sqlalchemy import func, select

from app.db.models import Attempt, Escalation, ModelRequestRow, Run
from app.runners.facts import Spent
from app.schemas.runs import EscalationDecision, EscalationReason, ModelRole, Usage
from app.services.record.accounts import Amounts, Entry
from app.services.record.transactions import Recording


def run_usage(run: Run) -> Usage:
    """Return what a run has consumed, judges included."""
    return Usage(
        requests=run.used_requests,
        tool_calls=run.used_tool_calls,
        input_tokens=run.used_input_tokens,
        output_tokens=run.used_output_tokens,
        cost_usd=run.used_cost_usd,
    )


async def charge(
    recording: Recording, attempt: Attempt, role: ModelRole, usage: Usage, candidate: int | None = None
) -> None:
    """Charge what an attempt consumed beyond what the ledger of model requests has already counted.

    The ledger already holds the requests of models that this service asks or that the gateway relays to.
    Other requests, such as those of an agent with a vendor login, are charged as the agent reports them.

    Args:
        recording: the transaction.
        attempt: the attempt that was worked on.
        role: the role that asked.
        usage: the consumption that the role's agents reported.
        candidate: the candidate that they worked on; None for all.
    """
    recording.run.used_tool_calls += usage.tool_calls
    metered = await _metered(recording, attempt, role, candidate)
    rest = _beyond(usage, metered)
    if rest is None:
        return
    session, run = recording.session, recording.run
    now = datetime.now(UTC)
    row = _reported(rest, attempt, role, candidate, now)
    accounts = recording.accounts
    runs = await accounts.lock(session, {run.id})
    session.add(row)
    await session.flush()
    await accounts.enter(session, runs, [Entry(run.id, attempt.phase, attempt.number, now, rest)])
    await session.refresh(run, _SUMS)


_SUMS = ("used_requests", "used_input_tokens", "used_output_tokens", "used_cost_usd", "last_sequence")


async def _metered(recording: Recording, attempt: Attempt, role: ModelRole, candidate: int | None) -> Amounts:
    row = ModelRequestRow
    statement = select(
        func.sum(row.requests),
        func.sum(row.input_tokens),
        func.sum(row.output_tokens),
        func.sum(row.cost_usd),
    ).where(
        row.run_id == attempt.run_id,
        row.phase == attempt.phase,
        row.attempt == attempt.number,
        row.role == role,
        row.at >= attempt.started_at,
        ~row.reported,
    )
    if candidate is not None:
        statement = statement.where(row.candidate == candidate)
    requests, given, answered, cost = (await recording.session.execute(statement)).one()
    return Amounts(int(requests or 0), int(given or 0), int(answered or 0), cost)


def _beyond(usage: Usage, metered: Amounts) -> Amounts | None:
    """Return the part of a report that was not metered; None if there is none."""
    cost = None if usage.cost_usd is None else Decimal(str(usage.cost_usd)) - (metered.cost_usd or 0)
    rest = Amounts(
        max(0, usage.requests - metered.requests),
        max(0, usage.input_tokens - metered.input_tokens),
        max(0, usage.output_tokens - metered.output_tokens),
        None if cost is None else max(Decimal(0), cost),
    )
    consumed = usage.requests or usage.input_tokens or usage.output_tokens or usage.cost_usd
    if not consumed or (metered.requests and not rest.tokens):
        return None
    return rest


def _reported(
    rest: Amounts, attempt: Attempt, role: ModelRole, candidate: int | None, now: datetime
) -> ModelRequestRow:
    known = rest.cost_usd is not None
    return ModelRequestRow(
        id=uuid4(),
        run_id=attempt.run_id,
        phase=attempt.phase,
        attempt=attempt.number,
        candidate=candidate,
        role=role,
        provider="reported",
        model="",
        input_tokens=rest.input_tokens,
        output_tokens=rest.output_tokens,
        cost_usd=rest.cost_usd,
        cost_kind="computed" if known else "unknown",
        status=200,
        latency_ms=0,
        requests=rest.requests,
        reported=True,
        at=now,
    )


def spent(run: Run, escalations: Sequence[Escalation], over_above: str = "", over_day: str = "") -> Spent:
    """Return what a run has spent, for decisions; a retry after a spent budget grants the budget again."""
    grants = sum(
        each.reason_kind == EscalationReason.BUDGET_EXHAUSTED and each.decision == EscalationDecision.RETRY
        for each in escalations
    )
    return Spent(
        tokens=run.used_input_tokens + run.used_output_tokens,
        cost_usd=run.used_cost_usd or 0.0,
        budget_grants=grants,
        over_above=over_above,
        over_day=over_day,
    )
