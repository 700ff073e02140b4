"""Starts and shows runs of one kind; kinds differ in how they read requests and build views."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Escalation, Run
from app.schemas.runs import RunKind
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Intake, NewRun
from app.services.read.runs import find_run
from app.services.record.family import descendants

RequestT = TypeVar("RequestT", bound=BaseModel)
ViewT = TypeVar("ViewT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOfKind(Generic[RequestT, ViewT]):
    """Starts and shows runs of one kind.

    Attributes:
        kind: the kind of run.
        prepare: makes a run from a request and the name of its starter; raises `InvalidInputError`.
        view: makes the kind's view of a run.
        intake: starts runs.
    """

    kind: RunKind
    prepare: Callable[[RequestT, str], NewRun]
    view: Callable[[AsyncSession, Run], Awaitable[ViewT]]
    intake: Intake

    async def start(self, request: RequestT, actor: str, once: Once = UNKEYED) -> ViewT:
        """Import the source, then record the run and its first job in one transaction.

        Raises:
            ReplayError: the same request has started a run in the meantime.
            InvalidInputError, WorkspaceError: the request or its source cannot be
                used; nothing is left behind.
        """
        return await self.intake.start(self.prepare(request, actor), self.show, once)

    async def get(self, run_id: UUID) -> ViewT:
        """Return the complete view of one run.

        Raises:
            NotFoundError: there is no such run, or it is of another kind; then the message names the kind.
        """
        async with self.intake.sessions() as session:
            # One snapshot of the database for the whole view, so that `last_sequence` matches what is shown.
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            return await self.show(session, run_id)

    async def show(self, session: AsyncSession, run_id: UUID) -> ViewT:
        """Return the complete view of one run in the session's transaction.

        Raises:
            NotFoundError: there is no such run, or it is of another kind; then the message names the kind.
        """
        return await self.view(session, await find_run(session, run_id, self.kind))


@dataclass(frozen=True, slots=True)
class WholeRun:
    """A run of one phase: attempts by number, escalations, and all runs below it, oldest first."""

    run: Run
    attempts: Sequence[Attempt]
    escalations: Sequence[Escalation]
    descendants: Sequence[Run]


async def load_whole(session: AsyncSession, run: Run) -> WholeRun:
    """Read the attempts, escalations and subtasks of a run."""
    of_run = select(Attempt).where(Attempt.run_id == run.id).order_by(Attempt.number)
    attempts = (await session.scalars(of_run)).all()
    asked = select(Escalation).where(Escalation.run_id == run.id).order_by(Escalation.created_at)
    escalations = (await session.scalars(asked)).all()
    return WholeRun(run, attempts, escalations, await descendants(session, run.id))
