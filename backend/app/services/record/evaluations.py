"""Stores evaluation results in rows, and reads them back."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Candidate, Evaluation
from app.runners.evaluators.models.outage import MAX_TIMEOUTS, MODEL_FAILURE
from app.runners.evaluators.protocol import EvaluationResult


async def store_evaluations(
    session: AsyncSession,
    results: Mapping[UUID, Sequence[EvaluationResult]],
    gates: AbstractSet[str],
    observed: AbstractSet[str] = frozenset(),
) -> None:
    """Store the results of each candidate in place of those of an earlier try without a verdict."""
    await session.execute(delete(Evaluation).where(Evaluation.candidate_id.in_(list(results))))
    for candidate_id, each in results.items():
        rows = [_row(candidate_id, position, one, gates) for position, one in enumerate(each)]
        for row in rows:
            row.observed = row.evaluator in observed
        session.add_all(rows)


async def load_too_slow(session: AsyncSession, run_id: UUID) -> frozenset[str]:
    """Return the advisers whose models timed out so often in a run that the run does not ask them again."""
    late = Evaluation.details[MODEL_FAILURE]["timed_out"].as_boolean()
    statement = (
        select(Evaluation.evaluator)
        .join(Candidate, Candidate.id == Evaluation.candidate_id)
        .join(Attempt, Attempt.id == Candidate.attempt_id)
        .where(Attempt.run_id == run_id, ~Evaluation.gate, late.is_(True))
        .group_by(Evaluation.evaluator)
        .having(func.count() >= MAX_TIMEOUTS)
    )
    return frozenset(await session.scalars(statement))


def evaluation_result(row: Evaluation) -> EvaluationResult:
    """Return the result that a stored evaluation holds."""
    return EvaluationResult.model_validate(
        {
            "evaluator_name": row.evaluator,
            "category": row.category,
            "passed": row.passed,
            "score": row.score,
            "feedback": row.feedback,
            "criteria": row.criteria,
            "suggestions": row.suggestions,
            "metadata": row.details,
            "status": row.status,
            "evaluator_version": row.version,
            "duration_ms": row.duration_ms,
            "trace_id": row.trace_id,
        }
    )


def _row(candidate_id: UUID, position: int, result: EvaluationResult, gates: AbstractSet[str]) -> Evaluation:
    return Evaluation(
        candidate_id=candidate_id,
        position=position,
        evaluator=result.evaluator_name,
        version=result.evaluator_version,
        category=result.category.value,
        gate=result.evaluator_name in gates,
        status=result.status.value,
        passed=result.passed,
        score=result.score,
        feedback=result.feedback,
        criteria=[each.model_dump(mode="json") for each in result.criteria],
        suggestions=result.suggestions,
        details=result.metadata,
        duration_ms=result.duration_ms,
        trace_id=result.trace_id,
    )
