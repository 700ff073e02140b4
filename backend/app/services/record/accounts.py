"""Adds up model requests by run and its parents, and by project and day."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.events.envelope import Envelope
from app.core.events.runs import BudgetWarningData
from app.core.events.union import Event, event_of
from app.db.models import DailySpending, Escalation, Run
from app.realtime.store import append_events
from app.runners.budgets import DayBudgets, DaySpent, SpentBudget, day_lines, run_lines
from app.runners.facts import Spent
from app.schemas.runs import EscalationDecision, EscalationReason, RunPolicy, RunStatus
from app.services.record.outbox import NO_WEBHOOKS, Outbox


@dataclass(frozen=True, slots=True)
class Amounts:
    """What several requests consumed together; `cost_usd` is None while no cost is known."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal | None = None

    def __add__(self, other: "Amounts") -> "Amounts":
        known = [each for each in (self.cost_usd, other.cost_usd) if each is not None]
        return Amounts(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(known, Decimal(0)) if known else None,
        )

    @property
    def tokens(self) -> int:
        """Return the sum of input and output tokens."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the ledger, as far as the accounts need it."""

    run_id: UUID | None
    phase: str | None
    attempt: int | None
    at: datetime
    amounts: Amounts


@dataclass(frozen=True, slots=True)
class Accounts:
    """Keeps the sums in the transaction that stores the lines, and warns of budgets that are nearly spent.

    Attributes:
        budgets: the daily budgets.
        outbox: queues the warnings for other services.
    """

    budgets: DayBudgets = field(default_factory=DayBudgets)
    outbox: Outbox = NO_WEBHOOKS

    async def lock(self, session: AsyncSession, run_ids: Collection[UUID]) -> "LockedRuns":
        """Lock runs and those above them; this precedes every change to the data of these runs.

        A run is older than its subtasks, so runs are locked from the top down, as everywhere.
        """
        known = select(Run.id, Run.parent_run_id).where(Run.id.in_(run_ids)).cte(recursive=True)
        known = known.union(select(Run.id, Run.parent_run_id).join(known, Run.id == known.c.parent_run_id))
        wanted = (
            select(
                Run.id,
                Run.parent_run_id,
                Run.status,
                Run.policy,
                Run.project,
                Run.used_input_tokens,
                Run.used_output_tokens,
                Run.used_cost_usd,
            )
            .where(Run.id.in_(select(known.c.id)))
            .order_by(Run.created_at, Run.id)
            .with_for_update(key_share=True, of=Run)
        )
        rows = (await session.execute(wanted)).all() if run_ids else ()
        return LockedRuns({row.id: LockedRun(*row) for row in rows})

    async def enter(
        self, session: AsyncSession, runs: "LockedRuns", entries: Sequence[Entry]
    ) -> Collection[UUID]:
        """Add entries to the sums.

        Returns:
            The runs that got a warning. The caller signals them to clients after the transaction.
        """
        events: dict[UUID, list[Event]] = {}
        for run_id, added in runs.consumed(entries).items():
            await _add(session, run_id, added)
            data = await _run_warnings(session, runs.rows[run_id], added)
            _tell(events, run_id, _latest(entries, runs.family(run_id)), data)
        for (day, project), added in sorted(_by_day(runs, entries).items()):
            before, after = await _add_to_day(session, day, project, added)
            run_id = next((each.run_id for each in reversed(entries) if runs.open(each.run_id)), None)
            if run_id is not None:
                data = _crossed(day_lines(after, self.budgets), day_lines(before, self.budgets))
                _tell(events, run_id, _latest(entries, {run_id}), data)
        for run_id, told in events.items():
            last = await append_events(session, run_id, told)
            await self.outbox.put(session, run_id, told, last)
        return events.keys()


NO_BUDGETS = Accounts()
"""Accounts without daily budgets."""


class LockedRun(NamedTuple):
    """The columns of a run that the accounts need."""

    id: UUID
    parent_run_id: UUID | None
    status: str
    policy: dict[str, Any]
    project: str | None
    used_input_tokens: int
    used_output_tokens: int
    used_cost_usd: float | None


@dataclass(frozen=True, slots=True)
class LockedRuns:
    """Locked runs, by id."""

    rows: Mapping[UUID, LockedRun]

    def above(self, run_id: UUID | None) -> list[UUID]:
        """Return a run and those above it; empty if there is no such run."""
        found: list[UUID] = []
        while run_id is not None and run_id in self.rows:
            found.append(run_id)
            run_id = self.rows[run_id].parent_run_id
        return found

    def family(self, run_id: UUID) -> set[UUID]:
        """Return a run and the locked runs below it."""
        return {each for each in self.rows if run_id in self.above(each)}

    def open(self, run_id: UUID | None) -> bool:
        """Return whether a run exists and can still have events."""
        row = self.rows.get(run_id) if run_id else None
        return row is not None and not RunStatus(row.status).is_final

    def project(self, run_id: UUID | None) -> str:
        """Return the project of a run; empty if there is no such run."""
        row = self.rows.get(run_id) if run_id else None
        return (row.project or "") if row is not None else ""

    def consumed(self, entries: Sequence[Entry]) -> dict[UUID, Amounts]:
        """Return what the entries add to each run."""
        sums: dict[UUID, Amounts] = {}
        for entry in entries:
            for run_id in self.above(entry.run_id):
                sums[run_id] = sums.get(run_id, Amounts()) + entry.amounts
        return sums


async def _add(session: AsyncSession, run_id: UUID, added: Amounts) -> None:
    values: dict[Any, Any] = {
        Run.used_requests: Run.used_requests + added.requests,
        Run.used_input_tokens: Run.used_input_tokens + added.input_tokens,
        Run.used_output_tokens: Run.used_output_tokens + added.output_tokens,
        Run.updated_at: Run.updated_at,
    }
    if added.cost_usd is not None:
        values[Run.used_cost_usd] = func.coalesce(Run.used_cost_usd, 0.0) + float(added.cost_usd)
    change = update(Run).where(Run.id == run_id).values(values)
    await session.execute(change.execution_options(synchronize_session=False))


def _by_day(runs: LockedRuns, entries: Sequence[Entry]) -> dict[tuple[date, str], Amounts]:
    sums: dict[tuple[date, str], Amounts] = {}
    for entry in entries:
        key = (entry.at.astimezone(UTC).date(), runs.project(entry.run_id))
        sums[key] = sums.get(key, Amounts()) + entry.amounts
    return sums


async def _add_to_day(
    session: AsyncSession, day: date, project: str, added: Amounts
) -> tuple[DaySpent, DaySpent]:
    """Add to a project's day, and return what was spent on that day before and after."""
    cost = added.cost_usd or Decimal(0)
    row = DailySpending
    new = insert(row).values(
        day=day, project=project, requests=added.requests, tokens=added.tokens, cost_usd=cost
    )
    sums = {name: getattr(row, name) + getattr(new.excluded, name) for name in _SUMMED}
    await session.execute(new.on_conflict_do_update(index_elements=["day", "project"], set_=sums))
    after = await load_day(session, project, day)
    less = float(cost)
    return DaySpent(day, after.installation - less, after.project - less), after


_SUMMED = ("requests", "tokens", "cost_usd")


async def load_day(session: AsyncSession, project: str, day: date) -> DaySpent:
    """Read what was spent on a day in UTC, in total and by the runs of a project."""
    row = DailySpending
    statement = select(
        func.coalesce(func.sum(row.cost_usd), 0),
        func.coalesce(func.sum(row.cost_usd).filter(row.project == project), 0),
    ).where(row.day == day)
    installation, of_project = (await session.execute(statement)).one()
    return DaySpent(day, float(installation), float(of_project))


async def load_grants(session: AsyncSession, run_id: UUID) -> int:
    """Return how often a person granted a run its budget again."""
    statement = select(func.count()).where(
        Escalation.run_id == run_id,
        Escalation.reason_kind == EscalationReason.BUDGET_EXHAUSTED,
        Escalation.decision == EscalationDecision.RETRY,
    )
    return await session.scalar(statement) or 0


async def _run_warnings(session: AsyncSession, run: LockedRun, added: Amounts) -> list[BudgetWarningData]:
    budget = RunPolicy.model_validate(run.policy).budget
    if RunStatus(run.status).is_final or (budget.tokens is None and budget.cost_usd is None):
        return []
    grants = await load_grants(session, run.id)
    tokens, cost = run.used_input_tokens + run.used_output_tokens, run.used_cost_usd or 0.0
    before = Spent(tokens, cost, grants)
    after = Spent(tokens + added.tokens, cost + float(added.cost_usd or 0), grants)
    return _crossed(run_lines(after, budget), run_lines(before, budget))


def _crossed(after: Sequence[SpentBudget], before: Sequence[SpentBudget]) -> list[BudgetWarningData]:
    return [
        BudgetWarningData(
            scope=now.scope, unit=now.unit, spent=now.spent, budget=now.budget, setting=now.setting
        )
        for now, then in zip(after, before, strict=True)
        if now.crossed(then.spent)
    ]


def _latest(entries: Sequence[Entry], run_ids: Collection[UUID]) -> Entry:
    return next(each for each in reversed(entries) if each.run_id in run_ids)


def _tell(
    events: dict[UUID, list[Event]], run_id: UUID, entry: Entry, warnings: Sequence[BudgetWarningData]
) -> None:
    for data in warnings:
        # When a subtask caused the spending, the entry's phase and attempt belong to the
        # subtask and not to this run.
        own = entry.run_id == run_id
        at = Envelope(
            run_id=run_id,
            sprint_id=run_id,
            phase=entry.phase if own else None,
            attempt=entry.attempt if own else None,
        )
        events.setdefault(run_id, []).append(event_of(data, at))
