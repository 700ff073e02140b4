"""Metrics of a part of the runs: their scope, evaluators, decisions, spending and trends."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from app.core.errors import InvalidInputError
from app.db.models import Evaluation
from app.schemas.api.marks import MarkCreate
from app.schemas.api.metrics import MetricQuery, TrendQuery
from app.schemas.api.run_lists import RunQuery
from app.services.measure.metrics import MetricsService
from app.services.measure.trends import MAX_POINTS, TrendService
from app.services.review.marks import MarkService
from tests.integration.services.measure.stories import START, STORIES, check, listed, resolved, shares, tell
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


SCOPES: dict[str, tuple[dict[str, Any], int]] = {
    "all": ({}, 2),
    "since": ({"since": START + timedelta(days=1)}, 1),
    "until": ({"until": START + timedelta(days=1)}, 1),
    "project": ({"project": ["/home/me/a & b"]}, 1),
    "agent": ({"agent": ["pydantic-ai openai:m"]}, 1),
    "kind": ({"kind": ["sprint"]}, 2),
    "another project": ({"project": ["/elsewhere"]}, 0),
}


@pytest.mark.parametrize(("scope", "runs"), SCOPES.values(), ids=SCOPES.keys())
async def test_what_is_measured_can_be_narrowed(cases: UseCases, scope: dict[str, Any], runs: int) -> None:
    here = {"kind": "local", "location": "/home/me/a & b"}
    first, second = STORIES["gave up"], STORIES["second go"]
    await tell(cases, first, created_at=START, source=here)
    agent = {"backend": "auto", "model": "openai:m"}
    await tell(cases, second, created_at=START + timedelta(days=1), agent=agent)
    report = await MetricsService(cases.sessions).report(MetricQuery.model_validate(scope))
    assert report.runs == runs
    for share in shares(report):
        assert len(await listed(cases, share.considered)) <= runs, "links stay within the scope"
    listed_all = await listed(cases, "limit=200")
    assert {first.id, second.id} == listed_all
    assert sum(each.verdicts for each in report.evaluators) == {0: 0, 1: 3, 2: 6}[runs]


async def test_evaluators(cases: UseCases) -> None:
    marks, made = MarkService(cases.sessions), []
    values = [("passed", 100, True), ("passed", 300, True), ("failed", 200, True), ("errored", None, True)]
    for status, took, gate in [*values, ("skipped", 9999, False)]:
        run_id = await cases.rows.run()
        evaluation_id = await cases.rows.attempt(run_id)
        made.append((run_id, evaluation_id))
        passed = status in ("passed", "skipped")
        change = {"status": status, "duration_ms": took, "passed": passed, "gate": gate}
        async with cases.sessions.begin() as session:
            await session.execute(update(Evaluation).where(Evaluation.id == evaluation_id).values(**change))
    await marks.mark(made[0][1], MarkCreate(was_right=False), "ada")
    await marks.mark(made[0][1], MarkCreate(was_right=True), "bob")
    await marks.mark(made[1][1], MarkCreate(was_right=False), "ada")
    await cases.rows.attempt(made[0][0], 2, evaluator="adviser")

    report = await MetricsService(cases.sessions).report(MetricQuery())
    found = {each.evaluator: each for each in report.evaluators}
    assert list(found) == ["adviser", "pytest"]
    one = found["pytest"]
    assert (one.verdicts, one.gate) == (5, True)
    assert one.latency.model_dump() == {"n": 3, "p50_ms": 200, "p95_ms": 300}
    every = {run for run, _ in made}
    await check(cases, one.passed, {made[0][0], made[1][0]}, every)
    await check(cases, one.failed, {made[2][0]}, every)
    await check(cases, one.errored, {made[3][0]}, every)
    await check(cases, one.skipped, {made[4][0]}, every)
    await check(cases, one.wrong_passes, {made[1][0]}, {made[0][0], made[1][0]})
    await check(cases, one.wrong_fails, set(), set())


async def test_decisions_and_spending(cases: UseCases) -> None:
    for decision, seconds in (("accept", 60), ("retry", 600), ("retry", 6000)):
        run_id = await cases.rows.run(
            status="completed", used_requests=1, used_input_tokens=10, used_cost_usd=seconds / 1000
        )
        await cases.rows.escalation(run_id, **resolved(decision, seconds))
    await cases.rows.run(status="failed", used_requests=2, used_input_tokens=90)
    scripted = await cases.rows.run(status="completed")
    await cases.rows.waiting()
    report = await MetricsService(cases.sessions).report(MetricQuery())
    asked = report.escalations
    assert asked.time_to_decision.model_dump() == {"n": 3, "p50_ms": 600_000, "p95_ms": 6_000_000}
    assert asked.open == 1
    assert [(name, each.count, each.of) for name, each in asked.decisions.items()] == [
        ("accept", 1, 3),
        ("retry", 2, 3),
        ("reject", 0, 3),
    ]
    assert len(await listed(cases, asked.decisions["retry"].counted)) == 2
    spend = report.spend
    assert (spend.cost_known.count, spend.cost_known.of) == (3, 4), "a cost that is not known is not zero"
    assert scripted not in await listed(cases, spend.cost_known.considered)
    assert spend.cost_usd.n == 3
    assert spend.cost_usd.total == pytest.approx(6.66)
    assert (spend.input_tokens.n, spend.input_tokens.p50, spend.input_tokens.total) == (4, 10, 120)


async def test_a_trend_has_gaps_where_nothing_was_measured(cases: UseCases) -> None:
    monday, later = START, START + timedelta(days=15)
    first, second = STORIES["first go"], STORIES["gave up"]
    await tell(cases, first, created_at=monday + timedelta(days=6, hours=23))
    await tell(cases, second, created_at=later)
    trend = await TrendService(cases.sessions).trend(TrendQuery())
    assert [each.start for each in trend.points] == [monday + timedelta(days=7 * n) for n in range(3)]
    assert [each.runs for each in trend.points] == [1, 0, 1]
    assert [each.pass_at_1.value for each in trend.points] == [1.0, None, 0.0]
    await check(cases, trend.points[0].pass_at_1, {first.id}, {first.id})
    await check(cases, trend.points[2].escalated, {second.id}, {second.id})
    days = await TrendService(cases.sessions).trend(TrendQuery.model_validate({"bucket": "day"}))
    assert len(days.points) == 10
    months = await TrendService(cases.sessions).trend(TrendQuery.model_validate({"bucket": "month"}))
    assert [each.start for each in months.points] == [datetime(2026, 3, 1, tzinfo=UTC)]


async def test_a_trend_of_too_many_points_is_refused(cases: UseCases) -> None:
    for days in (0, MAX_POINTS):
        await cases.rows.run(created_at=START + timedelta(days=days))
    with pytest.raises(InvalidInputError) as raised:
        await TrendService(cases.sessions).trend(TrendQuery.model_validate({"bucket": "day"}))
    assert raised.value.field == "bucket"


@pytest.mark.parametrize(
    "query",
    [
        {"metric": "wrong_passes"},
        {"metric": "verdict_failed"},
        {"metric": "escalated", "metric_key": "bored"},
        {"metric": "decided", "metric_key": "perhaps"},
    ],
    ids=lambda query: "-".join(query.values()),
)
async def test_numbers_that_there_are_not(cases: UseCases, query: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await cases.lists.page(RunQuery.model_validate(query))
    assert raised.value.field == "metric_key"


async def test_a_decision_that_took_two_months_is_measured(cases: UseCases) -> None:
    seconds = timedelta(days=60).total_seconds()
    await cases.rows.escalation(await cases.rows.run(), **resolved("accept", seconds))
    report = await MetricsService(cases.sessions).report(MetricQuery())
    assert report.escalations.time_to_decision.p50_ms == seconds * 1000
