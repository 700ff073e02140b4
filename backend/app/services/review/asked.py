"""Reads what an escalated attempt asks: its questions, and the protected files that it changed."""

import glob

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Candidate, Escalation, Evaluation
from app.runners.evaluators.protection.protected_files import NAME as PROTECTED_FILES
from app.runners.evaluators.verdict import questions_of
from app.schemas.questions import QUESTIONS, Question
from app.schemas.text import PathGlob
from app.services.record.evaluations import evaluation_result

_GLOB = TypeAdapter[str](PathGlob)


async def attempt_of(session: AsyncSession, escalation: Escalation) -> Attempt | None:
    """Return the attempt that is escalated; None if there is none yet."""
    statement = select(Attempt).where(
        Attempt.run_id == escalation.run_id,
        Attempt.phase == escalation.phase,
        Attempt.number == escalation.attempt,
    )
    return (await session.execute(statement)).scalar_one_or_none()


async def would_open(session: AsyncSession, attempt: Attempt) -> list[str]:
    """Return the protected files that an attempt changed; accepting the attempt unprotects them."""
    statement = (
        select(Evaluation.details)
        .join(Candidate)
        .where(Candidate.attempt_id == attempt.id, Candidate.index == attempt.chosen_candidate)
        .where(Evaluation.evaluator == PROTECTED_FILES)
    )
    # Questions are answered one by one: accepting them permits these changes and does
    # not unprotect whole files.
    opening = [each for each in await session.scalars(statement) if not each.get(QUESTIONS)]
    found = [path for details in opening for path in details.get("tampered", [])]
    return [path for path in found if _can_be_opened(path)]


async def load_questions(session: AsyncSession, attempt: Attempt | None) -> list[Question]:
    """Return what the gates asked about an attempt's changed tests, each question once."""
    if attempt is None:
        return []
    statement = (
        select(Evaluation)
        .join(Candidate)
        .where(Candidate.attempt_id == attempt.id, Candidate.index == attempt.chosen_candidate)
        .where(Evaluation.gate)
        .order_by(Evaluation.position)
    )
    return list(questions_of(evaluation_result(each) for each in await session.scalars(statement)))


def _can_be_opened(path: str) -> bool:
    try:
        _GLOB.validate_python(glob.escape(path))
    except ValidationError:
        return False
    return True
