"""Starts and cancels sprints."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import anyio
import logfire
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, NotFoundError
from app.core.event_data import ForkOriginData, RunCancelledData, RunCreatedData
from app.core.telemetry import current_trace_id, current_traceparent
from app.core.websocket_events import RunCancelledEvent, RunCreatedEvent
from app.db.engine import Sessions
from app.db.models import Escalation, Run, Snapshot
from app.jobs.queue import abort_advance, enqueue_advance
from app.realtime.store import append_events
from app.schemas.agents import AgentBackend, AgentSpec
from app.schemas.limits import min_of
from app.schemas.runs import Budget, RunKind, RunPolicy, RunStatus
from app.schemas.sprints import PolicyOverrides, SprintCreate, SprintDetail
from app.schemas.workspaces import GitSource, SourceInfo
from app.services.idempotency import UNKEYED, Once
from app.services.outbox import NO_WEBHOOKS, Outbox
from app.services.queries import load_detail
from app.services.recording import Bell
from app.services.views import agent_label
from app.workspaces.git import Git
from app.workspaces.importing import import_source
from app.workspaces.sources import SourcePolicy, inspect_source
from app.workspaces.store import WorkspaceStore

MAX_NAME_CHARS = 80


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
        bell: Bell,
        outbox: Outbox = NO_WEBHOOKS,
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._git = git
        self._sources = sources
        self._defaults = defaults
        self._bell = bell
        self._outbox = outbox

    async def start(self, request: SprintCreate, actor: str, once: Once = UNKEYED) -> SprintDetail:
        """Import the source, then record the sprint and its first job in one transaction.

        Raises:
            AnsweredError: the same request started a sprint in the meantime.
            InvalidInputError, WorkspaceError: the source cannot be used; nothing is left of the sprint.
        """
        info = await inspect_source(request.source, self._sources, self._git)
        run_id = uuid4()
        repository = self._store.repository(run_id)
        try:
            with logfire.span("start sprint {run_id}", run_id=run_id):
                base = await import_source(info.pinned, repository, self._sources)
                bundle = await repository.bundle(base)
                run = self._row(run_id, request, info, base, actor)
                sprint = await self._record(run, bundle, once)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._store.remove_run(run_id)
            raise
        self._bell.ring(run_id)
        return sprint

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

    async def _record(self, run: Run, bundle: bytes, once: Once) -> SprintDetail:
        snapshot = Snapshot(run_id=run.id, commit=run.base_commit, kind="base", bundle=bundle)
        async with self._sessions.begin() as session:
            await once.claim(session)
            session.add(run)
            await session.flush()
            session.add(snapshot)
            return await announce_sprint(session, run, once)

    async def cancel(self, run_id: UUID, reason: str, actor: str, once: Once = UNKEYED) -> SprintDetail:
        """End a run that is not over: its job is taken away, its agent stopped, its escalation withdrawn.

        Raises:
            NotFoundError: there is no such run.
            ConflictError: it is over already.
            AnsweredError: the same request cancelled it in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            run = await session.get(Run, run_id, with_for_update=True)
            if run is None:
                raise NotFoundError(f"there is no sprint {run_id}")
            if RunStatus(run.status).is_final:
                when = f" since {run.finished_at:%Y-%m-%d %H:%M:%S} UTC" if run.finished_at else ""
                raise ConflictError(f"the sprint is {run.status}{when}", run_status=run.status)
            run.status = RunStatus.CANCELLED
            run.status_reason = reason or f"cancelled by {actor}"
            run.finished_at = datetime.now(UTC)
            run.paused_at, run.paused_by, run.pause_reason = None, None, ""
            run.version += 1
            withdraw = update(Escalation).where(Escalation.run_id == run_id, Escalation.status == "open")
            await session.execute(withdraw.values(status="withdrawn", version=Escalation.version + 1))
            await session.flush()
            data = RunCancelledData(by=actor, reason=reason)
            event = RunCancelledEvent(
                run_id=run_id, sprint_id=run_id, phase=run.phase, trace_id=current_trace_id(), data=data
            )
            last = await append_events(session, run_id, [event])
            await self._outbox.put(session, run_id, [event], last)
            await abort_advance(session, run_id)
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


async def announce_sprint(session: AsyncSession, run: Run, once: Once) -> SprintDetail:
    """Tell of a run that was added to the transaction, give it its first job, and keep the answer."""
    spec = AgentSpec.model_validate(run.agent)
    data = RunCreatedData(
        kind=run.kind,
        name=run.name,
        goal=run.goal,
        phases=run.phases,
        max_attempts=run.policy["max_attempts"],
        agent=agent_label(spec),
        scripted=spec.backend is AgentBackend.SCRIPTED,
        source=run.source["location"],
        base_commit=run.base_commit,
        forked_from=ForkOriginData.model_validate(run.forked_from) if run.forked_from else None,
    )
    created = RunCreatedEvent(run_id=run.id, sprint_id=run.id, trace_id=current_trace_id(), data=data)
    await append_events(session, run.id, [created])
    await enqueue_advance(session, run.id)
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
    given: dict[str, Any] = overrides.model_dump(exclude_none=True, exclude={"budget"})
    if overrides.budget is not None:
        ceiling, asked = policy.budget, overrides.budget
        given["budget"] = Budget(
            tokens=min_of(ceiling.tokens, asked.tokens), cost_usd=min_of(ceiling.cost_usd, asked.cost_usd)
        )
    return policy.model_validate({**policy.model_dump(), **given})


def name_of(goal: str) -> str:
    """A short name made of the goal's first line."""
    first = goal.strip().splitlines()[0].strip()
    return first if len(first) <= MAX_NAME_CHARS else f"{first[: MAX_NAME_CHARS - 1].rstrip()}…"
