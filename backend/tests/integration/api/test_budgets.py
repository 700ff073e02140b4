"""A spent budget of the day refuses new runs, and leaves nothing of them."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from app.db.models import DailySpending
from app.runners.budgets import DayBudgets
from tests.integration.api.support import open_api, problem_of

pytestmark = pytest.mark.anyio

SPRINT = {"goal": "make it work", "source": {"kind": "empty"}}
SCRIPTED = {"backend": "scripted", "script": {"title": "t", "phases": {"coding": [{"say": "x"}]}}}


async def test_a_spent_day_refuses_new_sprints(database_url: str, tmp_path: Path) -> None:
    days = DayBudgets(installation=1.0)
    async with open_api(database_url, tmp_path / "data", days=days) as api:
        before = await api.client.post("/api/v1/sprints", json=SPRINT)
        assert before.status_code == 201, before.text
        spent = {"requests": 1, "tokens": 110, "cost_usd": Decimal("1.25")}
        async with api.cases.sessions.begin() as session:
            session.add(DailySpending(day=datetime.now(UTC).date(), project="a new project", **spent))
        refused = await api.client.post("/api/v1/sprints", json=SPRINT)
        problem = problem_of(refused)
        assert (problem["status"], problem["type"]) == (409, "urn:phaserunner:problem:budget-spent")
        assert "BUDGET_DAY_USD" in problem["detail"]
        assert await api.rows.count("runs") == 1, "nothing is left of the refused one"
        scripted = await api.client.post("/api/v1/sprints", json=SPRINT | {"agent": SCRIPTED})
        assert scripted.status_code == 201, "a script asks no model"
