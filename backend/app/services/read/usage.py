"""Reads the ledger of model requests: what a run consumed, and by which model."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import ModelRequestRow as Line
from app.db.models import Run
from app.runners.budgets import DayBudgets, day_lines, run_lines
from app.runners.facts import Spent
from app.schemas.api.usage import (
    BudgetLine,
    ModelRequestList,
    ModelRequestView,
    ModelUsage,
    RunUsage,
    UsagePart,
)
from app.schemas.runs import RunPolicy
from app.services.read.runs import find_attempt, find_run
from app.services.record.accounts import load_day, load_grants
from app.services.record.family import family_of

_GROUP = (Line.run_id, Line.phase, Line.attempt, Line.candidate, Line.role, Line.provider, Line.model)
_UNKNOWN = Line.cost_kind == "unknown"
_COSTS = ("billed", "computed")

MOST_REQUESTS = 1_000
"""The most model requests that are shown of one attempt."""


class UsageQueries:
    """Reads what runs consumed.

    Args:
        sessions: opens short sessions.
        days: the operator's daily budgets; None sets no bound.
    """

    def __init__(self, sessions: Sessions, days: DayBudgets | None = None) -> None:
        self._sessions = sessions
        self._days = days or DayBudgets()

    async def of_run(self, run_id: UUID) -> RunUsage:
        """Return what a run's model requests consumed, in total and in parts.

        Raises:
            NotFoundError: there is no such run.
        """
        statement = (
            select(
                *_GROUP,
                func.sum(Line.requests).label("requests"),
                func.count().filter(Line.status >= 400).label("failed_requests"),
                func.coalesce(func.sum(Line.input_tokens), 0).label("input_tokens"),
                func.coalesce(func.sum(Line.output_tokens), 0).label("output_tokens"),
                func.coalesce(func.sum(Line.cached_tokens), 0).label("cached_tokens"),
                *(func.sum(case((Line.cost_kind == kind, Line.cost_usd))).label(kind) for kind in _COSTS),
                func.coalesce(func.sum(Line.requests).filter(_UNKNOWN), 0).label("unknown_costs"),
                func.avg(Line.latency_ms).label("latency_ms"),
            )
            .where(Line.run_id.in_(select(family_of(run_id).c.id)))
            .group_by(*_GROUP)
            .order_by(func.min(Line.at), *_GROUP)
        )
        async with self._sessions() as session:
            run = await find_run(session, run_id)
            rows = (await session.execute(statement)).mappings().all()
            budgets = await self._budgets(session, run)
        return RunUsage(total=ModelUsage(**_sums(rows)), parts=[_part(row) for row in rows], budgets=budgets)

    async def of_attempt(self, run_id: UUID, phase: str, number: int) -> ModelRequestList:
        """Return one attempt's model requests, without those that an agent only counted.

        Raises:
            NotFoundError: there is no such attempt.
        """
        statement = (
            select(Line)
            .where(
                Line.run_id == run_id, Line.phase == phase, Line.attempt == number, Line.reported.is_(False)
            )
            .order_by(Line.at, Line.id)
            .limit(MOST_REQUESTS + 1)
        )
        async with self._sessions() as session:
            await find_attempt(session, run_id, phase, number)
            rows = (await session.scalars(statement)).all()
        shown = (ModelRequestView.model_validate(row, from_attributes=True) for row in rows[:MOST_REQUESTS])
        return ModelRequestList(items=tuple(shown), more=len(rows) > MOST_REQUESTS)

    async def _budgets(self, session: AsyncSession, run: Run) -> list[BudgetLine]:
        spent = Spent(
            run.used_input_tokens + run.used_output_tokens,
            run.used_cost_usd or 0.0,
            await load_grants(session, run.id),
        )
        lines = run_lines(spent, RunPolicy.model_validate(run.policy).budget)
        if self._days.bounded:
            today = await load_day(session, run.source.get("location", ""), datetime.now(UTC).date())
            lines += day_lines(today, self._days)
        return [BudgetLine.model_validate(asdict(each)) for each in lines]


def _part(row: RowMapping) -> UsagePart:
    return UsagePart(
        **_sums([row]),
        run_id=row["run_id"],
        phase=row["phase"],
        attempt=row["attempt"],
        candidate=row["candidate"],
        role=row["role"],
        provider=row["provider"],
        model=row["model"],
        latency_ms=round(row["latency_ms"]),
    )


def _sums(rows: Sequence[RowMapping]) -> dict[str, Any]:
    counted = (
        "requests",
        "failed_requests",
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "unknown_costs",
    )
    billed, computed = (_known([row[kind] for row in rows]) for kind in _COSTS)
    known = _known([billed, computed])
    return {
        **{name: int(sum(row[name] for row in rows)) for name in counted},
        "cost_usd": known,
        "billed_usd": billed,
        "computed_usd": computed,
    }


def _known(amounts: Sequence[Decimal | None]) -> Decimal | None:
    known = [each for each in amounts if each is not None]
    return sum(known, Decimal(0)) if known else None
