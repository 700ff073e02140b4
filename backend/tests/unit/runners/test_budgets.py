"""When a budget is spent, when people are warned, and what they are told."""

from datetime import date

import pytest

from app.runners.budgets import DayBudgets, DaySpent, SpentBudget, run_lines, spent_day, spent_run
from app.runners.facts import Spent
from app.schemas.runs import Budget

TODAY = date(2026, 5, 1)


@pytest.mark.parametrize(
    ("spent", "budget", "expected"),
    [
        pytest.param(Spent(cost_usd=99.0), Budget(), "", id="no budget"),
        pytest.param(Spent(cost_usd=0.99), Budget(cost_usd=1.0), "", id="below"),
        pytest.param(
            Spent(cost_usd=1.0), Budget(cost_usd=1.0), "$1.00 are spent; the budget is $1.00", id="at"
        ),
        pytest.param(Spent(cost_usd=1.0, budget_grants=1), Budget(cost_usd=1.0), "", id="granted again"),
        pytest.param(
            Spent(tokens=6300),
            Budget(tokens=5000),
            "6,300 tokens are used; the budget is 5,000",
            id="tokens",
        ),
        pytest.param(
            Spent(cost_usd=0.002), Budget(cost_usd=0.001), "$0.002000 are spent", id="small amounts"
        ),
    ],
)
def test_the_budget_of_a_run(spent: Spent, budget: Budget, expected: str) -> None:
    said = spent_run(spent, budget)
    assert said.startswith(expected)
    assert bool(said) is bool(expected)


def test_a_spent_run_names_the_setting_and_what_to_do() -> None:
    said = spent_run(Spent(cost_usd=2.0), Budget(cost_usd=1.0))
    assert "RUN_MAX_COST_USD" in said
    assert "Retry to grant" in said


@pytest.mark.parametrize(
    ("budgets", "setting"),
    [
        pytest.param(DayBudgets(), None, id="none"),
        pytest.param(DayBudgets(installation=10.0, project=5.0), None, id="both hold"),
        pytest.param(DayBudgets(installation=4.0), "BUDGET_DAY_USD", id="installation"),
        pytest.param(DayBudgets(project=1.5), "BUDGET_PROJECT_DAY_USD", id="project"),
    ],
)
def test_the_budgets_of_a_day(budgets: DayBudgets, setting: str | None) -> None:
    said = spent_day(DaySpent(TODAY, installation=4.0, project=1.5), budgets)
    assert (setting in said and "2026-05-01" in said) if setting else said == ""


@pytest.mark.parametrize(
    ("before", "after", "due"),
    [(0.0, 7.9, False), (7.9, 8.0, True), (8.0, 9.0, False), (0.0, 12.0, True)],
    ids=["below", "crosses", "was told", "jumps over"],
)
def test_the_warning_falls_due_once(before: float, after: float, due: bool) -> None:
    assert SpentBudget("run", "usd", after, 10.0, "a setting").crossed(before) is due


def test_each_grant_adds_the_same_amount() -> None:
    lines = run_lines(Spent(budget_grants=2), Budget(cost_usd=1.5, tokens=10))
    assert [each.budget for each in lines] == [4.5, 30]
