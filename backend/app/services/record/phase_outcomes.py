"""Stores the outcome of a run's phases in its row when it ends; metrics of many runs read only this.

The statement that makes the cases of unfinished runs also makes the stored outcome, so both count alike.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CTE,
    BigInteger,
    Boolean,
    ColumnElement,
    Select,
    cast,
    column,
    func,
    null,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Run
from app.services.record.cases import OVER, PhaseCases, phase_cases, scoped_runs

_NONE = text("'[]'::jsonb")


async def keep_outcomes(session: AsyncSession, run_id: UUID) -> None:
    """Store the outcome of a run's phases in the transaction that ends the run; it never changes later."""
    await session.flush()
    made = _made([Run.id == run_id]).subquery("made")
    kept = func.coalesce(select(made.c.outcomes).scalar_subquery(), _NONE)
    statement = update(Run).where(Run.id == run_id).values(outcomes=kept, updated_at=Run.updated_at)
    await session.execute(statement, execution_options={"synchronize_session": False})


def alike(
    conditions: Sequence[ColumnElement[bool]], start: ColumnElement[datetime] | None = None
) -> tuple[CTE, PhaseCases]:
    """Group the runs that meet all conditions, and their cases, so that runs with equal outcomes share a row.

    Args:
        conditions: which runs are measured.
        start: the start of the period that a run belongs to; None puts all runs in one period.

    Returns:
        Runs and phases in the form that `run_cases` takes. `runs` is the number of runs in a row, and
        `created_at` is the start of their period.
    """
    made = _made([*conditions, Run.outcomes.is_(None)]).subquery("made")
    each = (
        select(
            Run.status.in_(OVER).label("over"),
            func.cardinality(Run.phases).label("planned"),
            func.coalesce(Run.outcomes, made.c.outcomes, _NONE).label("outcomes"),
            (null() if start is None else start).label("created_at"),
        )
        .outerjoin(made, made.c.run_id == Run.id)
        .where(*conditions)
        .subquery("each")
    )
    same = (each.c.over, each.c.planned, each.c.outcomes, each.c.created_at)
    runs = (
        select(func.row_number().over().label("id"), *same, func.count().label("runs"))
        .group_by(*same)
        .cte("alike")
    )
    return runs, PhaseCases(_phases(runs).cte("alike_phases"))


def counted(runs: ColumnElement[int], which: ColumnElement[bool] | None = None) -> ColumnElement[int]:
    """Return how many runs, or cases of runs, the rows stand for; `which` selects the rows."""
    total = func.sum(runs)
    return cast(func.coalesce(total if which is None else total.filter(which), 0), BigInteger)


def _made(conditions: Sequence[ColumnElement[bool]]) -> Select[Any, Any]:
    """Return the outcomes of runs that have a case, in stored form: for each phase, what `_phases` reads."""
    c = phase_cases(scoped_runs(conditions)).rows.c
    case = func.jsonb_build_array(c.phase, c.judged, c.passed_at, c.gave_up, c.escalated)
    made = func.jsonb_agg(aggregate_order_by(case, c.phase))
    return select(c.run_id, made.label("outcomes")).group_by(c.run_id)


def _phases(runs: CTE) -> Select[*tuple[Any, ...]]:
    cases = func.jsonb_array_elements(runs.c.outcomes).table_valued(column("kept", JSONB)).render_derived()
    kept = cases.c.kept
    return select(
        runs.c.id.label("run_id"),
        kept[0].astext.label("phase"),
        runs.c.over,
        cast(kept[1].astext, BigInteger).label("judged"),
        cast(kept[2].astext, BigInteger).label("passed_at"),
        cast(kept[3].astext, Boolean).label("gave_up"),
        cast(kept[4].astext, Boolean).label("escalated"),
        runs.c.runs,
    ).select_from(runs.join(cases, true()))
