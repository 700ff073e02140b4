"""Outcomes of pull requests are a source of truth apart from marks; only settled ones count."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import pytest
from sqlalchemy import update

from app.core.errors import InvalidInputError
from app.db.models import Evaluation, ForgeMerge, ForgeReport
from app.schemas.api.metrics import MetricQuery, MetricShare
from app.schemas.api.run_lists import MetricName, RunQuery
from app.services.measure.metrics import MetricsService
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

DELIVERED = "1" * 40
LONG_AGO, RECENT = timedelta(days=31), timedelta(days=29)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


async def ended(
    cases: UseCases, verdict: str, outcome: str | None, ago: timedelta = LONG_AGO, **merge: Any
) -> UUID:
    """A run whose result was delivered with one verdict, and what became of it."""
    run = await cases.rows.run(status="completed", head_commit=DELIVERED)
    evaluation = await cases.rows.attempt(run, 1, status="passed", head_commit=DELIVERED)
    earlier = await cases.rows.attempt(run, 2, status="failed", head_commit="2" * 40)
    async with cases.sessions.begin() as session:
        found = update(Evaluation).where(Evaluation.id.in_([evaluation, earlier]))
        await session.execute(found.values(status=verdict, passed=verdict == "passed"))
        at = datetime.now(UTC) - ago
        place = {"forge": "github", "repository": "acme/widgets", "pull_number": 7, "wanted": 0}
        session.add(ForgeReport(run_id=run, pushed=[DELIVERED], outcome=outcome, outcome_at=at, **place))
        if outcome == "merged":
            await session.flush()
            session.add(ForgeMerge(run_id=run, look_at=None, **merge))
    return run


async def listed(cases: UseCases, share: MetricShare, part: str) -> set[UUID]:
    """Follow the link of a share."""
    query = {name: values[0] for name, values in parse_qs(getattr(share, part)).items()}
    return {each.id for each in (await cases.lists.page(RunQuery.model_validate(query))).items}


async def test_outcomes_contradict_verdicts_once_they_are_settled(cases: UseCases) -> None:
    unchanged = await ended(cases, "passed", "merged", edited_share=0.0)
    edited = await ended(cases, "passed", "merged", edited_share=0.5)
    closed = await ended(cases, "passed", "closed")
    now = datetime.now(UTC)
    reverted = await ended(cases, "passed", "merged", edited_share=0.0, reverted_at=now)
    overruled = await ended(cases, "failed", "merged", edited_share=0.25)
    confirmed = await ended(cases, "failed", "closed")
    await ended(cases, "passed", "closed", RECENT)
    await ended(cases, "passed", "merged", edited_share=None)
    await ended(cases, "passed", None)
    report = await MetricsService(cases.sessions).report(MetricQuery())
    found = report.outcomes
    assert {word: (share.count, share.of) for word, share in found.shares.items()} == {
        "merged_unchanged": (1, 6),
        "merged_edited": (2, 6),
        "closed": (2, 6),
        "reverted": (1, 6),
    }
    assert found.recent == {"merged_unchanged": 0, "merged_edited": 0, "closed": 1, "reverted": 0}
    assert (found.uncompared, found.edited_share) == (1, 0.0)
    (pytest_gate,) = report.evaluators
    passes, fails = pytest_gate.wrong_passes_by_outcome, pytest_gate.wrong_fails_by_outcome
    assert ((passes.count, passes.of), (fails.count, fails.of)) == ((2, 4), (1, 2))
    assert await listed(cases, passes, "counted") == {closed, reverted}
    assert await listed(cases, passes, "considered") == {closed, reverted, unchanged, edited}
    assert await listed(cases, fails, "counted") == {overruled}
    assert await listed(cases, fails, "considered") == {overruled, confirmed}
    assert await listed(cases, found.shares["closed"], "counted") == {closed, confirmed}
    assert len(await listed(cases, found.shares["closed"], "considered")) == 6
    assert (pytest_gate.wrong_passes.of, pytest_gate.wrong_fails.of) == (0, 0), "no one marked anything"


async def test_without_outcomes_there_is_no_data(cases: UseCases) -> None:
    report = await MetricsService(cases.sessions).report(MetricQuery())
    assert {share.value for share in report.outcomes.shares.values()} == {None}
    with pytest.raises(InvalidInputError, match="merged_unchanged"):
        await cases.lists.page(RunQuery(metric=MetricName.OUTCOME, metric_key="lost"))
