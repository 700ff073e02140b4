"""Retries that continued a conversation, beside those that began a fresh one."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.cli.commands.metrics import metrics_lines
from app.core.intervals import share
from app.db.models import Candidate, Evaluation
from app.schemas.api.metrics import ConversationMetrics, MetricQuery
from app.services.measure.metrics import MetricsService
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

TEA = {"kind": "empty", "location": "tea"}


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def attempt(
    cases: UseCases, run: UUID, number: int, status: str, agent: str, *, continued: bool, **values: Any
) -> None:
    evaluation = await cases.rows.attempt(run, number, status=status, **values)
    of_evaluation = select(Evaluation.candidate_id).where(Evaluation.id == evaluation).scalar_subquery()
    async with cases.sessions.begin() as session:
        chosen = update(Candidate).where(Candidate.id == of_evaluation)
        await session.execute(chosen.values(agent=agent, continued=continued))


async def test_retries_are_compared_by_agent_and_conversation(cases: UseCases) -> None:
    one = await cases.rows.run(source=TEA)
    await attempt(cases, one, 1, "failed", "codex", continued=False)
    await attempt(cases, one, 2, "failed", "codex", continued=True)
    await attempt(cases, one, 3, "passed", "codex", continued=True)
    two = await cases.rows.run()
    await attempt(cases, two, 1, "passed", "codex", continued=True)  # it was interrupted: no retry
    await attempt(cases, two, 1, "failed", "codex", continued=False, phase="verification")
    await attempt(cases, two, 2, "failed", "codex", continued=False, phase="verification")
    await attempt(cases, two, 3, "started", "codex", continued=True, phase="verification")
    steered = await cases.rows.run()
    await attempt(cases, steered, 1, "failed", "codex", continued=False, steered=True)
    await attempt(cases, steered, 2, "passed", "codex", continued=True)
    await attempt(cases, steered, 1, "failed", "opencode", continued=False, phase="verification")
    await attempt(cases, steered, 2, "passed", "opencode", continued=False, phase="verification")
    await attempt(cases, steered, 3, "passed", "opencode", continued=True, phase="verification", steered=True)
    measure = MetricsService(cases.sessions)
    report = await measure.report(MetricQuery())
    assert report.conversations == [
        ConversationMetrics(agent="codex", continued=share(1, 2), fresh=share(0, 1)),
        ConversationMetrics(agent="opencode", continued=share(0, 0), fresh=share(1, 1)),
    ]
    told = list(metrics_lines(report))
    assert "retries of codex that passed" in told
    assert "retries of opencode that passed" not in told, "none continued: there is nothing to compare"
    narrowed = await measure.report(MetricQuery(project=["tea"]))
    assert narrowed.conversations == [
        ConversationMetrics(agent="codex", continued=share(1, 2), fresh=share(0, 0))
    ]
