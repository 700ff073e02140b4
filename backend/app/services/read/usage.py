"""Reads the ledger of model requests: what a run consumed, and which model did what."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, case, func, select

from app.db.engine import Sessions
from app.db.models import ModelRequestRow as Line
from app.schemas.api.usage import ModelUsage, RunUsage, UsagePart
from app.services.read.runs import find_run

_GROUP = (Line.phase, Line.attempt, Line.candidate, Line.role, Line.provider, Line.model)
_COSTS = ("billed", "computed")


class UsageQueries:
    """Reads what runs consumed."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def of_run(self, run_id: UUID) -> RunUsage:
        """Return what a run's model requests consumed, in all and in parts.

        Raises:
            NotFoundError: there is no such run.
        """
        statement = (
            select(
                *_GROUP,
                func.count().label("requests"),
                func.count().filter(Line.status >= 400).label("failed_requests"),
                func.coalesce(func.sum(Line.input_tokens), 0).label("input_tokens"),
                func.coalesce(func.sum(Line.output_tokens), 0).label("output_tokens"),
                func.coalesce(func.sum(Line.cached_tokens), 0).label("cached_tokens"),
                *(func.sum(case((Line.cost_kind == kind, Line.cost_usd))).label(kind) for kind in _COSTS),
                func.count().filter(Line.cost_kind == "unknown").label("unknown_costs"),
                func.avg(Line.latency_ms).label("latency_ms"),
            )
            .where(Line.run_id == run_id)
            .group_by(*_GROUP)
            .order_by(func.min(Line.at), *_GROUP)
        )
        async with self._sessions() as session:
            await find_run(session, run_id)
            rows = (await session.execute(statement)).mappings().all()
        return RunUsage(total=ModelUsage(**_sums(rows)), parts=[_part(row) for row in rows])


def _part(row: RowMapping) -> UsagePart:
    return UsagePart(
        **_sums([row]),
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
