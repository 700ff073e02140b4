"""Records reviewers' marks on verdicts: right or wrong. The newest mark counts."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ForbiddenError, InvalidInputError, NotFoundError
from app.core.security import Principal, Role
from app.db.engine import Sessions
from app.db.models import Evaluation, VerdictMark
from app.schemas.api.marks import MarkCreate, MarkList, MarkView
from app.services.read.runs import load_marks
from app.services.read.views import mark_view

_MARKABLE = ("passed", "failed")


class MarkService:
    """Records and withdraws marks on verdicts."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def mark(self, evaluation_id: UUID, given: MarkCreate, actor: str) -> MarkView:
        """Record the mark of `actor` on a verdict in place of their earlier one.

        Raises:
            NotFoundError: there is no such evaluation.
            InvalidInputError: the evaluation reached no verdict that could be right or wrong.
        """
        async with self._sessions.begin() as session:
            status = await verdict_status(session, evaluation_id)
            return mark_view(await store_mark(session, evaluation_id, given, actor), status)

    async def of(self, evaluation_id: UUID) -> MarkList:
        """Return the marks on a verdict, newest first.

        Raises:
            NotFoundError: there is no such evaluation.
        """
        async with self._sessions() as session:
            status = await session.scalar(select(Evaluation.status).where(Evaluation.id == evaluation_id))
            if status is None:
                raise NotFoundError(f"there is no evaluation {evaluation_id}")
            marks = await load_marks(session, [evaluation_id])
        return MarkList(items=[mark_view(each, status) for each in marks.get(evaluation_id, ())])

    async def withdraw(self, evaluation_id: UUID, mark_id: UUID, who: Principal) -> None:
        """Withdraw a mark. Reviewers withdraw their own marks, admins all marks.

        Raises:
            NotFoundError: there is no such mark.
            ForbiddenError: the mark belongs to another user.
        """
        async with self._sessions.begin() as session:
            mark = await session.get(VerdictMark, mark_id, with_for_update=True)
            if mark is None or mark.evaluation_id != evaluation_id:
                raise NotFoundError(f"evaluation {evaluation_id} has no mark {mark_id}")
            if mark.marked_by != who.name and not who.role.includes(Role.ADMIN):
                raise ForbiddenError(f"the mark is {mark.marked_by}'s; {who.name} may not withdraw it")
            await session.delete(mark)


async def verdict_status(session: AsyncSession, evaluation_id: UUID, field: str = "evaluation_id") -> str:
    """Return the status of a verdict that can be marked, and lock the verdict until the transaction ends.

    Raises:
        NotFoundError: there is no such evaluation.
        InvalidInputError: it was skipped or errored; the error names `field`.
    """
    statement = (
        select(Evaluation.evaluator, Evaluation.status)
        .where(Evaluation.id == evaluation_id)
        .with_for_update(key_share=True, read=True)
    )
    row = (await session.execute(statement)).one_or_none()
    if row is None:
        raise NotFoundError(f"there is no evaluation {evaluation_id}", field=field)
    evaluator, status = row
    if status not in _MARKABLE:
        raise InvalidInputError(
            f"{evaluator} {status}: there is no verdict that could be right or wrong", field=field
        )
    return status


async def store_mark(
    session: AsyncSession, evaluation_id: UUID, given: MarkCreate, actor: str
) -> VerdictMark:
    """Store a mark as part of a transaction, in place of the same reviewer's earlier one."""
    statement = insert(VerdictMark).values(
        evaluation_id=evaluation_id, was_right=given.was_right, note=given.note, marked_by=actor
    )
    written = statement.on_conflict_do_update(
        index_elements=["evaluation_id", "marked_by"],
        set_={"was_right": given.was_right, "note": given.note, "marked_at": func.now()},
    ).returning(VerdictMark)
    return (await session.scalars(written, execution_options={"populate_existing": True})).one()
