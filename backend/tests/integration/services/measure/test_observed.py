"""Observed gates: what they would have blocked, and what humans said to that."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from app.db.models import Evaluation
from app.schemas.api.marks import MarkCreate
from app.schemas.api.metrics import MetricQuery
from app.services.measure.metrics import MetricsService
from app.services.measure.observed import ObserveService
from app.services.review.marks import MarkService
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def observed(cases: UseCases, run_id: UUID, number: int, said: str, **attempt: Any) -> UUID:
    """An attempt with one verdict of an observed gate."""
    verdict = await cases.rows.attempt(run_id, number, **attempt)
    values = {"gate": False, "observed": True, "status": said, "passed": said == "passed"}
    async with cases.sessions.begin() as session:
        await session.execute(update(Evaluation).where(Evaluation.id == verdict).values(**values))
    return verdict


async def test_the_report_counts_what_would_have_been_blocked(cases: UseCases) -> None:
    first, second = await cases.rows.run(), await cases.rows.run()
    await observed(cases, first, 1, "failed", status="failed")
    marked = await observed(cases, first, 2, "failed", status="passed")
    await observed(cases, first, 3, "passed", status="passed")
    right = await observed(cases, second, 1, "errored", status="passed")
    accepted = await observed(cases, second, 2, "failed", status="failed")
    await cases.rows.escalation(second, 2, status="resolved", decision="accept", decided_by="ada")
    await cases.rows.attempt(second, 3, status="passed", evaluator="an_enforced_gate")
    marks = MarkService(cases.sessions)
    await marks.mark(marked, MarkCreate(was_right=False), "ada")

    report = await ObserveService(cases.sessions).report(MetricQuery())
    assert len(report.gates) == 1, "a gate that was never observed is not in the report"
    gate = report.gates[0]
    assert (gate.evaluator, gate.verdicts, gate.runs) == ("pytest", 5, 2)
    shares = (gate.failed, gate.errored, gate.would_block, gate.overruled, gate.confirmed)
    assert [(each.count, each.of) for each in shares] == [(3, 5), (1, 5), (3, 5), (2, 3), (0, 3)]
    told = {(each.run_id, each.attempt): each.word.value for each in report.would_block}
    assert told == {(first, 2): "overruled", (second, 1): "none", (second, 2): "overruled"}
    assert (await MetricsService(cases.sessions).report(MetricQuery())).observed == report.gates

    await marks.mark(accepted, MarkCreate(was_right=True), "ada")
    later = (await ObserveService(cases.sessions).report(MetricQuery())).gates[0]
    assert (later.overruled.count, later.confirmed.count) == (1, 1), "a mark counts more than the acceptance"
    with pytest.raises(IntegrityError):
        async with cases.sessions.begin() as session:
            await session.execute(update(Evaluation).where(Evaluation.id == right).values(gate=True))
