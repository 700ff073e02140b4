"""Finds the newest run of those that a forge knows under one number or one pull request."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import ForgeReport, Run


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run and its row of the forge."""

    run: Run
    report: ForgeReport


async def newest_run(session: AsyncSession, *conditions: ColumnElement[bool]) -> ReportedRun | None:
    """Find the run that started last of those that these conditions on `Run` and `ForgeReport` fit."""
    statement = (
        select(Run, ForgeReport)
        .join(ForgeReport, ForgeReport.run_id == Run.id)
        .where(*conditions)
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(1)
    )
    found = (await session.execute(statement)).one_or_none()
    return None if found is None else ReportedRun(*found)


def is_of_pull(root_run_id: UUID) -> ColumnElement[bool]:
    """Return the condition that a run is the first one of a pull request or one of its rounds."""
    return (ForgeReport.run_id == root_run_id) | (ForgeReport.root_run_id == root_run_id)


def was_pushed() -> ColumnElement[bool]:
    """Return the condition that something of a run was pushed."""
    return func.cardinality(ForgeReport.pushed) > 0
