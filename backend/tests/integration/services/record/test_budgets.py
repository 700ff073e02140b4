"""Budgets on a real database: checked before each request, shared by all processes, warned of once."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from app.agents.gateway_port import RequestLabels
from app.db.models import DailySpending, EventRow, WebhookDelivery
from app.gateway.ledger import ModelRequest
from app.gateway.prices import Cost, CostKind
from app.gateway.usage_reading import Tokens
from app.runners.budgets import DayBudgets
from app.schemas.runs import Budget, EscalationDecision, RunPolicy
from app.services.record.accounts import Accounts
from app.services.record.budgets import BudgetKeeper, BudgetSpentError
from app.services.record.model_requests import RequestLedger
from app.services.record.outbox import NO_WEBHOOKS, Outbox
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

PROJECT = "a new project"


def request(run_id: UUID | None, dollars: str, candidate: int = 0) -> ModelRequest:
    return ModelRequest(
        labels=RequestLabels(run_id, "coding", 1, candidate),
        provider="openai",
        model="gpt-5",
        tokens=Tokens(100, 10),
        cost=Cost(Decimal(dollars), CostKind.COMPUTED),
        status=200,
        latency_ms=5,
        at=datetime.now(UTC),
    )


def keeper(
    cases: UseCases, days: DayBudgets | None = None, outbox: Outbox = NO_WEBHOOKS
) -> tuple[RequestLedger, BudgetKeeper]:
    """The parts of one process."""
    days = days or DayBudgets()
    ledger = RequestLedger(cases.sessions, Accounts(days, outbox), cases.bell)
    return ledger, BudgetKeeper(cases.sessions, ledger, days)


async def bounded_run(cases: UseCases, dollars: float | None, **values: Any) -> UUID:
    policy = RunPolicy(budget=Budget(cost_usd=dollars)).model_dump(mode="json")
    return await cases.rows.run(policy=policy, **values)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as built:
        yield built


@pytest.fixture(autouse=True)
async def fresh_day(cases: UseCases) -> None:
    async with cases.sessions.begin() as session:
        await session.execute(delete(DailySpending))


async def test_a_run_may_ask_until_its_budget_is_spent(cases: UseCases) -> None:
    run_id = await bounded_run(cases, 1.0)
    ledger, budgets = keeper(cases)
    ledger.record(request(run_id, "0.6"))
    assert await budgets.spent(run_id) is None
    ledger.record(request(run_id, "0.6", candidate=1))
    said = await budgets.spent(run_id)
    assert said is not None
    assert said.startswith("$1.20 are spent; the budget is $1.00")
    await cases.rows.escalation(
        run_id,
        reason_kind="budget_exhausted",
        status="resolved",
        decision=EscalationDecision.RETRY,
        decided_at=datetime.now(UTC),
    )
    assert await budgets.spent(run_id) is None


async def test_a_run_without_budget_is_never_stopped(cases: UseCases) -> None:
    run_id = await bounded_run(cases, None)
    ledger, budgets = keeper(cases)
    ledger.record(request(run_id, "1000"))
    assert await budgets.spent(run_id) is None
    assert await budgets.spent(None) is None


async def test_what_a_subtask_spends_counts_above_it(cases: UseCases) -> None:
    parent = await bounded_run(cases, 1.0)
    child = await bounded_run(cases, None, parent_run_id=parent)
    ledger, budgets = keeper(cases)
    ledger.record(request(child, "1.5"))
    assert await budgets.spent(child) is not None
    assert (await cases.rows.get(parent)).used_cost_usd == pytest.approx(1.5)
    assert (await cases.rows.get(parent)).used_requests == 1


@pytest.mark.parametrize(
    ("days", "setting"),
    [
        (DayBudgets(installation=1.0), "BUDGET_DAY_USD"),
        (DayBudgets(project=1.0), "BUDGET_PROJECT_DAY_USD"),
    ],
    ids=["installation", "project"],
)
async def test_a_day_s_budget_stops_requests_and_new_runs(
    days: DayBudgets, setting: str, cases: UseCases
) -> None:
    run_id = await bounded_run(cases, None)
    ledger, budgets = keeper(cases, days)
    await budgets.check_day(PROJECT)
    ledger.record(request(run_id, "1.25"))
    said = await budgets.spent(run_id)
    assert said is not None
    assert said.startswith("$1.25 are spent; the budget is $1.00")
    assert setting in said
    with pytest.raises(BudgetSpentError, match=setting) as refused:
        await budgets.check_day(PROJECT)
    assert refused.value.status == 409


async def test_another_project_has_its_own_day(cases: UseCases) -> None:
    source = {"kind": "local", "location": "/elsewhere"}
    other = await bounded_run(cases, None, source=source)
    ledger, budgets = keeper(cases, DayBudgets(project=1.0))
    ledger.record(request(other, "5"))
    await ledger.stored()
    await budgets.check_day(PROJECT)
    with pytest.raises(BudgetSpentError):
        await budgets.check_day("/elsewhere")


async def test_warnings_come_once_and_ring(cases: UseCases) -> None:
    run_id = await bounded_run(cases, 1.0)
    ledger, _ = keeper(cases, DayBudgets(installation=1.0))
    for _ in range(3):
        ledger.record(request(run_id, "0.45"))
        await ledger.stored()
    async with cases.sessions() as session:
        rows = await session.scalars(select(EventRow.data).where(EventRow.run_id == run_id))
        told = [(each["scope"], each["spent"], each["budget"]) for each in rows.all()]
    assert told == [("run", pytest.approx(0.9), 1.0), ("installation_day", pytest.approx(0.9), 1.0)]
    assert cases.bell.rung == [run_id]


async def test_a_warning_is_queued_for_webhooks_once(cases: UseCases) -> None:
    run_id = await bounded_run(cases, 1.0)
    ledger, _ = keeper(cases, outbox=Outbox(("https://one.example/hook", "https://two.example/hook")))
    for _ in range(3):
        ledger.record(request(run_id, "0.45"))
        await ledger.stored()
    async with cases.sessions() as session:
        told = await session.scalar(select(EventRow.sequence).where(EventRow.run_id == run_id))
        statement = select(WebhookDelivery).where(WebhookDelivery.run_id == run_id)
        rows = (await session.scalars(statement.order_by(WebhookDelivery.url))).all()
    assert [(each.event, each.url, each.sequence, each.status) for each in rows] == [
        ("budget.warning", "https://one.example/hook", told, "pending"),
        ("budget.warning", "https://two.example/hook", told, "pending"),
    ]


async def test_a_run_that_is_over_gets_no_warning(cases: UseCases) -> None:
    run_id = await bounded_run(cases, 1.0, status="completed")
    ledger, _ = keeper(cases)
    ledger.record(request(run_id, "0.9"))
    await ledger.stored()
    assert await cases.rows.events(run_id) == []
    assert (await cases.rows.get(run_id)).used_cost_usd == pytest.approx(0.9)


COSTS = st.lists(st.integers(1, 40), min_size=1, max_size=6)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(candidates=st.lists(COSTS, min_size=2, max_size=4), cents=st.integers(1, 100), processes=st.booleans())
async def test_agents_side_by_side_overspend_by_at_most_one_request_each(
    candidates: list[list[int]], cents: int, processes: bool, cases: UseCases
) -> None:
    run_id = await bounded_run(cases, cents / 100)
    shared = keeper(cases)

    async def agent(costs: list[int]) -> list[int]:
        ledger, budgets = keeper(cases) if processes else shared
        paid: list[int] = []
        for cost in costs:
            if await budgets.spent(run_id) is not None:
                break
            await asyncio.sleep(0)
            ledger.record(request(run_id, f"{cost / 100:.2f}"))
            paid.append(cost)
        await ledger.stored()
        return paid

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(agent(each)) for each in candidates]
    paid = [each.result() for each in tasks]
    total = sum(map(sum, paid))
    last_ones = sum(each[-1] for each in paid if each)
    assert total < cents + last_ones
    assert (await cases.rows.get(run_id)).used_cost_usd == pytest.approx(total / 100)
