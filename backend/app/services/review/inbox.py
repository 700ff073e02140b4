"""The inbox of reviewers: the escalations that it lists, and their assignments."""

from uuid import UUID

from sqlalchemy import ColumnElement, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import load_only

from app.core.errors import ConflictError, NotFoundError
from app.db.engine import Sessions
from app.db.models import Escalation, Run
from app.schemas.api.escalations import EscalationFilter, EscalationPage, EscalationQuery
from app.services.read.paging import decode_cursor, encode_cursor
from app.services.read.views import escalation_view
from app.services.record.accounts import NO_BUDGETS

_OF_RUNS = load_only(Run.name, Run.kind, Run.source, raiseload=True)


async def read_page(sessions: Sessions, query: EscalationQuery) -> EscalationPage:
    """Return a page of escalations, oldest first.

    Raises:
        InvalidInputError: the cursor is invalid.
    """
    statement = (
        select(Escalation, Run)
        .join(Run, Run.id == Escalation.run_id)
        .options(_OF_RUNS)
        .where(*_conditions(query))
    )
    if query.cursor is not None:
        statement = statement.where(
            tuple_(Escalation.created_at, Escalation.id) > tuple_(*decode_cursor(query.cursor))
        )
    statement = statement.order_by(Escalation.created_at, Escalation.id).limit(query.limit + 1)
    async with sessions() as session:
        rows = (await session.execute(statement)).all()
    items = [escalation_view(row, run) for row, run in rows[: query.limit]]
    last = rows[query.limit - 1][0] if len(rows) > query.limit else None
    return EscalationPage(items=items, next_cursor=encode_cursor(last.created_at, last.id) if last else None)


def _conditions(given: EscalationFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if given.status is not None:
        found.append(Escalation.status == given.status)
    if given.kind:
        found.append(Run.kind.in_(given.kind))
    if given.reason:
        found.append(Escalation.reason_kind.in_(given.reason))
    if given.project:
        found.append(Run.project.in_(given.project))
    if given.assigned is not None:
        found.append(Escalation.assigned_to == given.assigned)
    if given.unassigned:
        found.append(Escalation.assigned_to.is_(None))
    if given.until is not None:
        found.append(Escalation.created_at < given.until)
    return found


async def lock_escalation(session: AsyncSession, escalation_id: UUID) -> tuple[Run, Escalation]:
    """Lock a run and its escalation until the transaction ends; the runs above a subtask are locked, too.

    Raises:
        NotFoundError: there is no such escalation.
    """
    run_id = await session.scalar(select(Escalation.run_id).where(Escalation.id == escalation_id))
    if run_id is None:
        raise NotFoundError(f"there is no escalation {escalation_id}")
    # The runs first, from the top down, as every writer locks them; another order could deadlock.
    await NO_BUDGETS.lock(session, {run_id})
    run = await session.get_one(Run, run_id, with_for_update=True)
    return run, await session.get_one(Escalation, escalation_id, with_for_update=True)


def check_assignable(escalation: Escalation, actor: str, *, take_over: bool) -> None:
    """Refuse to assign an escalation that is decided or that another reviewer has.

    Raises:
        ConflictError: it cannot be assigned; with `assigned_to` and `assigned_at` if another reviewer has it.
    """
    if escalation.status != "open":
        raise ConflictError(f"the escalation is {escalation.status}; only an open one can be assigned")
    holder = escalation.assigned_to
    if holder is None or holder == actor or take_over:
        return
    since = escalation.assigned_at.isoformat() if escalation.assigned_at else None
    raise ConflictError(
        f"{holder} has taken this escalation; set take_over to take it over",
        assigned_to=holder,
        assigned_at=since,
    )
