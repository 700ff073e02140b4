"""Starts and cancels sprints."""

from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import NotFoundError
from app.core.telemetry import current_traceparent
from app.db.engine import Sessions
from app.db.models import Run
from app.jobs.queue import enqueue_advance
from app.schemas.api.policies import PolicyOverrides
from app.schemas.api.runs import RunDetail
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import Budget, RunKind, RunPolicy, RunStatus, min_of
from app.schemas.workspaces import GitSource, SourceInfo
from app.services.control.cancelling import cancel_run
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Intake, announce, name_of
from app.services.read.runs import load_detail
from app.services.record.outbox import NO_WEBHOOKS, Outbox
from app.services.record.transactions import EventBell
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.store import WorkspaceStore


class SprintService:
    """Starts and cancels sprints.

    Args:
        sessions: opens transactions.
        store: keeps the runs' files.
        git: the git program.
        sources: which sources are taken.
        defaults: the policy of a sprint that names nothing else.
        bell: tells of new events.
        outbox: tells other services.
    """

    def __init__(
        self,
        sessions: Sessions,
        store: WorkspaceStore,
        git: Git,
        sources: SourcePolicy,
        defaults: RunPolicy,
        bell: EventBell,
        outbox: Outbox = NO_WEBHOOKS,
    ) -> None:
        self._sessions = sessions
        self._intake = Intake(sessions, store, git, sources, bell)
        self._defaults = defaults
        self._bell = bell
        self._outbox = outbox

    async def start(self, request: SprintCreate, actor: str, once: Once = UNKEYED) -> RunDetail:
        """Import the source, then record the sprint and its first job in one transaction.

        Raises:
            AnsweredError: the same request started a sprint in the meantime.
            InvalidInputError, WorkspaceError: the source cannot be used; nothing is left of the sprint.
        """

        def row(run_id: UUID, info: SourceInfo, base: str) -> Run:
            return self._row(run_id, request, info, base, actor)

        return await self._intake.start(request.source, row, load_detail, once)

    def _row(self, run_id: UUID, request: SprintCreate, info: SourceInfo, base: str, actor: str) -> Run:
        policy = with_overrides(self._defaults, request.policy)
        return Run(
            id=run_id,
            kind=RunKind.SPRINT,
            name=request.name or name_of(request.goal),
            goal=request.goal,
            phases=[phase.value for phase in request.phases],
            phase=request.phases[0].value,
            policy=policy.model_dump(mode="json"),
            agent=request.agent.model_dump(mode="json", exclude_none=True),
            source=source_document(info),
            status=RunStatus.QUEUED,
            base_commit=base,
            head_commit=base,
            traceparent=current_traceparent(),
            created_by=actor,
        )

    async def cancel(self, run_id: UUID, reason: str, actor: str, once: Once = UNKEYED) -> RunDetail:
        """End a run that is not over: its job is taken away, its agent stopped, its escalation withdrawn.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: it is over already.
            AnsweredError: the same request cancelled it in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            await cancel_run(session, run_id, reason, actor, self._outbox)
            sprint = await load_detail(session, run_id)
            await once.keep(session, sprint)
        self._bell.ring(run_id)
        return sprint

    async def begin(self, run_id: UUID) -> None:
        """Make sure that a recorded sprint has a job.

        Raises:
            NotFoundError: there is no such run.
        """
        async with self._sessions.begin() as session:
            if await session.get(Run, run_id, with_for_update=True) is None:
                raise NotFoundError(f"there is no sprint {run_id}")
            await enqueue_advance(session, run_id)


async def announce_sprint(session: AsyncSession, run: Run, once: Once) -> RunDetail:
    """Tell of a run that was added to the transaction, give it its first job, and keep the answer."""
    await announce(session, run)
    sprint = await load_detail(session, run.id)
    await once.keep(session, sprint)
    return sprint


def source_document(info: SourceInfo) -> dict[str, Any]:
    """What is kept of a source: where it was and what it looked like, without any password in its URL."""
    document = info.pinned.model_dump(mode="json")
    if isinstance(info.pinned, GitSource):
        document["url"] = info.location
    return {**document, "location": info.location, "notes": list(info.notes)}


def with_overrides(policy: RunPolicy, overrides: PolicyOverrides) -> RunPolicy:
    """The policy with the figures that were given; the operator's budget is a ceiling, not a default."""
    given: dict[str, Any] = overrides.model_dump(exclude_none=True, exclude={"budget", "attempts_per_phase"})
    if overrides.attempts_per_phase is not None:
        given["max_attempts"] = overrides.attempts_per_phase
    if overrides.budget is not None:
        ceiling, asked = policy.budget, overrides.budget
        given["budget"] = Budget(
            tokens=min_of(ceiling.tokens, asked.tokens), cost_usd=min_of(ceiling.cost_usd, asked.cost_usd)
        )
    return policy.model_validate({**policy.model_dump(), **given})
