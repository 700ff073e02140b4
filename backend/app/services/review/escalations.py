"""Lists escalations, and records each decision exactly once."""

import glob
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.core.events.escalations import EscalationAssignedData, EscalationResolvedData
from app.core.events.runs import WorkflowStatusData
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Escalation, Evaluation, Run
from app.jobs.queue import enqueue_advance
from app.schemas.api.escalations import (
    EscalationAssign,
    EscalationPage,
    EscalationQuery,
    EscalationResolve,
    EscalationView,
    VerdictMarkIn,
)
from app.schemas.runs import EscalationDecision, EscalationReason, RunPolicy, RunStatus
from app.services.control.idempotency import UNKEYED, Once
from app.services.read.views import attempts_allowed_now, escalation_view
from app.services.record.budgets import grant_above
from app.services.record.transactions import EventBell, Recording
from app.services.record.waiting import forget_failures
from app.services.review.asked import attempt_of, load_questions, would_open
from app.services.review.inbox import check_assignable, lock_escalation, read_page
from app.services.review.known_failures import learn_known_failures
from app.services.review.marks import store_mark, verdict_status


class EscalationService:
    """Shows escalations and resolves them.

    Args:
        sessions: opens transactions.
        bell: signals new events.
    """

    def __init__(self, sessions: Sessions, bell: EventBell) -> None:
        self._sessions = sessions
        self._bell = bell

    async def page(self, query: EscalationQuery) -> EscalationPage:
        """Return a page of escalations, oldest first.

        Raises:
            InvalidInputError: the cursor is invalid.
        """
        return await read_page(self._sessions, query)

    async def get(self, escalation_id: UUID) -> EscalationView:
        """Return one escalation.

        Raises:
            NotFoundError: there is no such escalation.
        """
        async with self._sessions() as session:
            row = await session.get(Escalation, escalation_id)
            if row is None:
                raise NotFoundError(f"there is no escalation {escalation_id}")
            run = await session.get_one(Run, row.run_id)
            attempt = await attempt_of(session, row)
            asked = await load_questions(session, attempt)
            return escalation_view(row, run, asked, attempt.changed_files if attempt else None)

    async def resolve(
        self, escalation_id: UUID, resolution: EscalationResolve, actor: str, once: Once = UNKEYED
    ) -> EscalationView:
        """Record a decision, and the job that acts on it, in one transaction.

        Raises:
            NotFoundError: there is no such escalation.
            ConflictError: it is already resolved or withdrawn, the reviewer saw an older version, or there is
                nothing to accept.
            InvalidInputError: a verdict mark belongs to another attempt, or no test can become a known
                failure.
            ReplayError: the same request has resolved it in the meantime.
        """
        async with self._sessions.begin() as session:
            await once.claim(session)
            run, escalation = await lock_escalation(session, escalation_id)
            _check_open(escalation, resolution)
            attempt = await attempt_of(session, escalation)
            if resolution.decision is EscalationDecision.ACCEPT and (
                attempt is None or attempt.head_commit is None
            ):
                raise ConflictError(
                    "there is no output to accept: the agent has not done any work yet", field="decision"
                )
            await _mark_verdicts(session, attempt, resolution.verdict_marks, actor)
            _decide(escalation, resolution, actor)
            run.policy = await _opened(session, run, attempt, resolution)
            known = (
                await learn_known_failures(session, run, attempt, actor) if resolution.known_failures else 0
            )
            if resolution.decision is EscalationDecision.RETRY:
                if attempt is not None:
                    _give_new_chance(attempt)
                if escalation.reason_kind == EscalationReason.BUDGET_EXHAUSTED:
                    await grant_above(session, run)
            run.status = RunStatus.ACTIVE
            run.status_reason = ""
            run.version += 1
            recording = Recording(session, run)
            await _tell(recording, escalation, actor, known)
            await recording.flush_events()
            if run.paused_at is None:
                await enqueue_advance(session, run.id)
            view = escalation_view(escalation, run)
            await once.keep(session, view)
        self._bell.ring(run.id)
        return view

    async def assign(self, escalation_id: UUID, request: EscalationAssign, actor: str) -> EscalationView:
        """Record that `actor` looks after an escalation; repeating this changes nothing.

        Raises:
            NotFoundError: there is no such escalation.
            ConflictError: it is not open, or another reviewer has it and the request does not take it over.
        """
        return await self._hand(escalation_id, actor, actor, take_over=request.take_over)

    async def release(self, escalation_id: UUID, actor: str) -> EscalationView:
        """Release an escalation that `actor` looks after; an unassigned one stays as it is.

        Raises:
            NotFoundError: there is no such escalation.
            ConflictError: it is not open, or another reviewer has it.
        """
        return await self._hand(escalation_id, None, actor, take_over=False)

    async def _hand(
        self, escalation_id: UUID, to: str | None, actor: str, *, take_over: bool
    ) -> EscalationView:
        async with self._sessions.begin() as session:
            run, escalation = await lock_escalation(session, escalation_id)
            before = escalation.assigned_to
            check_assignable(escalation, actor, take_over=take_over)
            if before == to:
                return escalation_view(escalation, run)
            escalation.assigned_to = to
            escalation.assigned_at = datetime.now(UTC) if to is not None else None
            recording = Recording(session, run)
            data = EscalationAssignedData(escalation_id=escalation.id, assigned_to=to, before=before)
            recording.tell(data, escalation.phase, escalation.attempt or None)
            await recording.flush_events()
            view = escalation_view(escalation, run)
        self._bell.ring(run.id)
        return view


def _check_open(escalation: Escalation, resolution: EscalationResolve) -> None:
    members: dict[str, Any] = {
        "decided_by": escalation.decided_by,
        "decided_at": escalation.decided_at.isoformat() if escalation.decided_at else None,
        "decision": escalation.decision,
        "version": escalation.version,
    }
    if escalation.status == "resolved":
        when = f"{escalation.decided_at:%Y-%m-%d %H:%M:%S} UTC"
        raise ConflictError(
            f"{escalation.decided_by} decided '{escalation.decision}' at {when}; yours was not recorded",
            **members,
        )
    if escalation.status == "withdrawn":
        raise ConflictError("the escalation was withdrawn, because its run was cancelled", **members)
    if resolution.version is not None and resolution.version != escalation.version:
        raise ConflictError(
            f"the escalation has version {escalation.version}; you have seen {resolution.version}",
            field="version",
            **members,
        )


async def _mark_verdicts(
    session: AsyncSession, attempt: Attempt | None, marks: Sequence[VerdictMarkIn], actor: str
) -> None:
    if not marks:
        return
    own = (
        select(Evaluation.id).join(Candidate).where(Candidate.attempt_id == (attempt.id if attempt else None))
    )
    known = set((await session.scalars(own)).all())
    for index, mark in enumerate(marks):
        field = f"verdict_marks.{index}.evaluation_id"
        if mark.evaluation_id not in known:
            raise InvalidInputError(
                f"{mark.evaluation_id} is not an evaluation of the escalated attempt", field=field
            )
        await verdict_status(session, mark.evaluation_id, field)
        await store_mark(session, mark.evaluation_id, mark, actor)


def _decide(escalation: Escalation, resolution: EscalationResolve, actor: str) -> None:
    is_retry = resolution.decision is EscalationDecision.RETRY
    escalation.status = "resolved"
    escalation.decision = resolution.decision.value
    escalation.guidance = resolution.guidance
    escalation.line_comments = [each.model_dump(mode="json") for each in resolution.line_comments]
    escalation.additional_attempts = (resolution.additional_attempts or 1) if is_retry else 0
    escalation.decided_by = actor
    escalation.decided_at = datetime.now(UTC)
    escalation.version += 1


async def _opened(
    session: AsyncSession, run: Run, attempt: Attempt | None, resolution: EscalationResolve
) -> dict[str, Any]:
    """Return the run's policy with the paths that may be changed from now on.

    Accepting an attempt also accepts its changes to protected files, so that later phases do not ask again.
    """
    opened = list(resolution.open_paths)
    if resolution.decision is EscalationDecision.ACCEPT and attempt is not None:
        opened += [glob.escape(path) for path in await would_open(session, attempt)]
    policy = RunPolicy.model_validate(run.policy)
    every = tuple(dict.fromkeys((*policy.open_paths, *opened)))
    return policy.model_copy(update={"open_paths": every}).model_dump(mode="json")


def _give_new_chance(attempt: Attempt) -> None:
    attempt.agent_failures = 0
    forget_failures(attempt)
    attempt.needs_human = False
    attempt.evaluation_failures = 0
    attempt.lost_workers = 0
    attempt.not_before = None


async def _tell(recording: Recording, escalation: Escalation, actor: str, known: int) -> None:
    run = recording.run
    await recording.session.flush()
    of_phase = select(Escalation).where(Escalation.run_id == run.id, Escalation.phase == escalation.phase)
    asked = (await recording.session.scalars(of_phase)).all()
    phase, attempt = escalation.phase, escalation.attempt or None
    data = EscalationResolvedData(
        escalation_id=escalation.id,
        decision=escalation.decision or "",
        decided_by=actor,
        guidance=escalation.guidance,
        additional_attempts=escalation.additional_attempts,
        max_attempts=attempts_allowed_now(run, escalation.phase, asked),
        open_paths=run.policy["open_paths"],
        known_failures=known,
    )
    recording.tell(data, phase, attempt)
    status = WorkflowStatusData(status=RunStatus.ACTIVE, reason=f"{actor} decided: {escalation.decision}")
    recording.tell(status, phase, attempt)
