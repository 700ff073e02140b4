"""Which advisers are too slow is read from the rows of a run."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from app.db.models import Attempt, Candidate
from app.runners.evaluators.models.outage import MODEL_FAILURE
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult, EvaluationStatus
from app.services.record.evaluations import load_too_slow, store_evaluations
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


def silent(name: str, *, timed_out: bool = True) -> EvaluationResult:
    """A result without a verdict, as its model gave no answer."""
    return EvaluationResult(
        evaluator_name=name,
        category=EvaluationCategory.MAINTAINABILITY,
        passed=False,
        score=0.0,
        status=EvaluationStatus.ERRORED,
        feedback="no answer",
        metadata={MODEL_FAILURE: {"kind": "limit", "timed_out": timed_out, "retry_at": None}},
    )


async def recorded(cases: UseCases, run_id: UUID, number: int, results: Sequence[EvaluationResult]) -> None:
    """Record an attempt with these results."""
    await cases.rows.attempt(run_id, number)
    async with cases.sessions.begin() as session:
        statement = select(Candidate.id).join(Attempt)
        candidate = await session.scalar(statement.where(Attempt.run_id == run_id, Attempt.number == number))
        assert candidate is not None
        await store_evaluations(session, {candidate: results}, {"gate"})


async def too_slow(cases: UseCases, run_id: UUID) -> frozenset[str]:
    """Read them."""
    async with cases.sessions() as session:
        return await load_too_slow(session, run_id)


async def test_an_adviser_is_too_slow_after_two_recorded_time_outs(cases: UseCases) -> None:
    run_id, other = await cases.rows.run(), await cases.rows.run()
    once = [silent("late"), silent("gate"), silent("refused", timed_out=False)]
    await recorded(cases, run_id, 1, [*once, silent("once late")])
    await recorded(cases, other, 1, once)
    assert await too_slow(cases, run_id) == frozenset(), "those of another run do not count"
    await recorded(cases, run_id, 2, once)
    assert await too_slow(cases, run_id) == {"late"}
    assert await too_slow(cases, other) == frozenset()
