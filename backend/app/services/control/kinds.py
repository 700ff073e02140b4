"""What loops and answers share: runs of one phase, started, shown and cancelled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFoundError
from app.core.telemetry import current_traceparent
from app.db.engine import Sessions
from app.db.models import Attempt, Escalation, Run
from app.schemas.agents import AgentSpec
from app.schemas.runs import RunKind, RunPolicy, RunStatus
from app.schemas.workspaces import SourceInfo, WorkspaceSource
from app.services.control.cancelling import WORDS, cancel_run
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Intake, name_of
from app.services.control.sprints import source_document
from app.services.record.family import descendants
from app.services.record.outbox import NO_WEBHOOKS, Outbox

ViewT = TypeVar("ViewT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class WholeRun:
    """A run with the attempts of its phase by number, its escalations and all runs below it, by age."""

    run: Run
    attempts: Sequence[Attempt]
    escalations: Sequence[Escalation]
    descendants: Sequence[Run]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What a run is started with.

    Attributes:
        source: where its files are from.
        goal: for people.
        name: what lists call it; by default the goal's first words.
        policy: by which it is decided.
        agent: who works.
        definition: what its kind keeps of its start.
        actor: who started it.
    """

    source: WorkspaceSource
    goal: str
    name: str | None
    policy: RunPolicy
    agent: AgentSpec
    definition: dict[str, Any]
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOfKind(Generic[ViewT]):
    """Takes in, shows and cancels runs of one kind.

    Attributes:
        kind: of the runs.
        phase: the only one they have.
        view: shows a run as its kind is shown.
        sessions: opens transactions.
        intake: takes runs in.
        outbox: tells other services.
    """

    kind: RunKind
    phase: str
    view: Callable[[WholeRun], ViewT]
    sessions: Sessions
    intake: Intake
    outbox: Outbox = NO_WEBHOOKS

    async def start(self, new: NewRun, once: Once = UNKEYED) -> ViewT:
        """Import the source, then record the run and its first job in one transaction.

        Raises:
            AnsweredError: the same request started a run in the meantime.
            InvalidInputError, WorkspaceError: the source cannot be used; nothing is left of the run.
        """

        def row(run_id: UUID, info: SourceInfo, base: str) -> Run:
            return Run(
                id=run_id,
                kind=self.kind,
                name=new.name or name_of(new.goal),
                goal=new.goal,
                phases=[self.phase],
                phase=self.phase,
                policy=new.policy.model_dump(mode="json"),
                agent=new.agent.model_dump(mode="json", exclude_none=True),
                source=source_document(info),
                definition=new.definition,
                status=RunStatus.QUEUED,
                base_commit=base,
                head_commit=base,
                traceparent=current_traceparent(),
                created_by=new.actor,
            )

        return await self.intake.start(new.source, row, self._show, once)

    async def get(self, run_id: UUID) -> ViewT:
        """Give one run, whole.

        Raises:
            NotFoundError: there is none of this kind.
        """
        async with self.sessions() as session:
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            return await self._show(session, run_id)

    async def cancel(self, run_id: UUID, reason: str, actor: str, once: Once = UNKEYED) -> ViewT:
        """End a run that is not over; its attempts stay.

        Raises:
            NotFoundError: there is none of this kind.
            ConflictError: it is over already.
            AnsweredError: the same request cancelled it in the meantime.
        """
        async with self.sessions.begin() as session:
            await once.claim(session)
            await self._find(session, run_id)
            await cancel_run(session, run_id, reason, actor, self.outbox)
            view = await self._show(session, run_id)
            await once.keep(session, view)
        self.intake.bell.ring(run_id)
        return view

    async def _show(self, session: AsyncSession, run_id: UUID) -> ViewT:
        run = await self._find(session, run_id)
        of_phase = select(Attempt).where(Attempt.run_id == run_id, Attempt.phase == self.phase)
        attempts = (await session.scalars(of_phase.order_by(Attempt.number))).all()
        of_run = select(Escalation).where(Escalation.run_id == run_id)
        escalations = (await session.scalars(of_run.order_by(Escalation.created_at))).all()
        below = await descendants(session, run_id)
        return self.view(WholeRun(run, attempts, escalations, below))

    async def _find(self, session: AsyncSession, run_id: UUID) -> Run:
        run = await session.get(Run, run_id, populate_existing=True)
        if run is None or run.kind != self.kind:
            raise NotFoundError(f"there is no {WORDS[self.kind]} {run_id}")
        return run
