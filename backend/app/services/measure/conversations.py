"""Compares retries that continued a conversation with retries that began a new one."""

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.intervals import share
from app.db.models import Attempt, Candidate
from app.schemas.api.metrics import ConversationMetrics
from app.services.record.cases import ScopedRuns, without_steering


async def load_conversations(session: AsyncSession, scoped: ScopedRuns) -> list[ConversationMetrics]:
    """Return the share of retries that passed, by agent and by whether the conversation was continued.

    A retry is an evaluated attempt after the first of its phase. It counts by what its chosen candidate did,
    whatever the policy asked for. Attempts that a person steered, and those after them, do not count.
    """
    chosen = and_(
        Candidate.attempt_id == Attempt.id, Candidate.index == func.coalesce(Attempt.chosen_candidate, 0)
    )
    passed = Attempt.status == "passed"
    statement = (
        select(
            Candidate.agent,
            func.count().filter(Candidate.continued).label("continued"),
            func.count().filter(Candidate.continued, passed).label("continued_passed"),
            func.count().filter(~Candidate.continued).label("fresh"),
            func.count().filter(~Candidate.continued, passed).label("fresh_passed"),
        )
        .select_from(Attempt)
        .join(Candidate, chosen)
        .where(Attempt.number > 1, Attempt.status.in_(("passed", "failed")), without_steering())
        .group_by(Candidate.agent)
        .order_by(Candidate.agent)
    )
    rows = await session.execute(scoped.holding(statement, Attempt.run_id.expression))
    return [
        ConversationMetrics(
            agent=row["agent"],
            continued=share(row["continued_passed"], row["continued"]),
            fresh=share(row["fresh_passed"], row["fresh"]),
        )
        for row in rows.mappings()
    ]
