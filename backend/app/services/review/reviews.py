"""Reads all that a reviewer needs for one decision, in one snapshot."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from app.core.errors import NotFoundError
from app.db.engine import Sessions
from app.db.models import Attempt, Escalation, Run
from app.schemas.api.answers import AnswerResult
from app.schemas.api.attempts import AttemptView, EvaluationView
from app.schemas.api.policies import PolicyView
from app.schemas.api.reviews import EscalationDetail
from app.schemas.runs import RunKind, RunPolicy
from app.services.read.runs import load_attempt_views, load_views
from app.services.read.views import escalation_view
from app.services.record.answers import attempt_of, question_of, result_of
from app.services.review.asked import load_questions, would_open
from app.services.review.track_records import load_track_records


class ReviewQueries:
    """Reads escalations with all that belongs to them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def get(self, escalation_id: UUID) -> EscalationDetail:
        """Return one escalation with the work, its history and the track records of its evaluators.

        Raises:
            NotFoundError: there is no such escalation.
        """
        async with self._sessions() as session:
            # One snapshot for all queries, so that the reviewer sees one consistent state.
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            row = await session.get(Escalation, escalation_id)
            if row is None:
                raise NotFoundError(f"there is no escalation {escalation_id}")
            return await _detail(session, row, await session.get_one(Run, row.run_id))


async def _detail(session: AsyncSession, row: Escalation, run: Run) -> EscalationDetail:
    attempts = await _attempts(session, row)
    views = await load_attempt_views(session, attempts)
    escalated = next((each for each in attempts if each.number == row.attempt), None)
    view = views[escalated.id] if escalated else None
    names = [each.evaluator for each in view.evaluations] if view else []
    policy = RunPolicy.model_validate(run.policy)
    statement = select(Escalation).where(Escalation.run_id == run.id, Escalation.id != row.id)
    earlier = await session.scalars(statement.order_by(Escalation.created_at))
    shown = (await load_views(session, [run]))[0]
    asked = await load_questions(session, escalated)
    return EscalationDetail(
        **dict(escalation_view(row, run, asked, escalated.changed_files if escalated else None)),
        run=shown,
        sprint=shown,
        policy=PolicyView.of(policy),
        attempt_id=escalated.id if escalated else None,
        failing=_failing(view) if view else [],
        attempts=[views[each.id] for each in attempts],
        earlier=[escalation_view(each, run) for each in earlier if each.created_at <= row.created_at],
        track_records=await load_track_records(session, names),
        can_accept=escalated is not None and escalated.head_commit is not None,
        would_open=await would_open(session, escalated) if escalated else [],
        open_paths=list(policy.open_paths),
        would_give=_would_give(row, run, attempts),
    )


def _would_give(row: Escalation, run: Run, attempts: Sequence[Attempt]) -> AnswerResult | None:
    if run.kind != RunKind.ANSWER or row.status != "open":
        return None
    question = question_of(run)
    return result_of(attempts, [attempt_of(each, question.entries) for each in attempts], accepted=True)


async def _attempts(session: AsyncSession, row: Escalation) -> Sequence[Attempt]:
    statement = (
        select(Attempt)
        .where(Attempt.run_id == row.run_id, Attempt.phase == row.phase)
        .order_by(Attempt.number)
        .options(defer(Attempt.prompt), defer(Attempt.optimization_context))
    )
    return (await session.scalars(statement)).all()


def _failing(view: AttemptView) -> list[EvaluationView]:
    failing = [each for each in view.evaluations if each.status in ("failed", "errored")]
    return sorted(failing, key=lambda each: not each.gate)
