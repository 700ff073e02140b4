"""Decides when a budget is spent and when to warn, and words the messages. Pure."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from app.runners.facts import Spent
from app.schemas.runs import Budget

WARNING_SHARE = 0.8
"""The share of a budget at which people are warned."""

Scope = Literal["run", "project_day", "installation_day"]
Unit = Literal["usd", "tokens"]


@dataclass(frozen=True, slots=True)
class DayBudgets:
    """The budgets of one day in UTC, in US dollars; None means no limit.

    Attributes:
        installation: `BUDGET_DAY_USD`, for all projects together.
        project: `BUDGET_PROJECT_DAY_USD`, for each project.
    """

    installation: float | None = None
    project: float | None = None

    @property
    def bounded(self) -> bool:
        """True if at least one budget is set."""
        return self.installation is not None or self.project is not None


@dataclass(frozen=True, slots=True)
class DaySpent:
    """The cost of a day in UTC so far, in US dollars: of all runs, and of one project's runs."""

    day: date
    installation: float = 0.0
    project: float = 0.0


@dataclass(frozen=True, slots=True)
class SpentBudget:
    """One budget and how much of it is spent.

    Attributes:
        scope: what the budget applies to.
        unit: the unit of both amounts.
        spent: the amount used so far.
        budget: the limit.
        setting: the setting that defines the limit, for messages.
    """

    scope: Scope
    unit: Unit
    spent: float
    budget: float
    setting: str

    @property
    def is_spent(self) -> bool:
        """True if no further request is allowed."""
        return self.spent >= self.budget

    def crossed(self, before: float) -> bool:
        """Return True if spending passed the warning share since the amount `before`."""
        due = WARNING_SHARE * self.budget
        return before < due <= self.spent


def run_lines(spent: Spent, budget: Budget) -> list[SpentBudget]:
    """Return the budgets of a run. Each further grant adds the original amount again."""
    grants = 1 + spent.budget_grants
    lines: list[SpentBudget] = []
    if budget.cost_usd is not None:
        total = budget.cost_usd * grants
        lines.append(
            SpentBudget("run", "usd", spent.cost_usd, total, "budget.cost_usd, at most RUN_MAX_COST_USD")
        )
    if budget.tokens is not None:
        total = budget.tokens * grants
        lines.append(
            SpentBudget("run", "tokens", spent.tokens, total, "budget.tokens, at most RUN_MAX_TOKENS")
        )
    return lines


def day_lines(spent: DaySpent, budgets: DayBudgets) -> list[SpentBudget]:
    """Return the budgets of a day."""
    lines: list[SpentBudget] = []
    if budgets.project is not None:
        lines.append(
            SpentBudget("project_day", "usd", spent.project, budgets.project, "BUDGET_PROJECT_DAY_USD")
        )
    if budgets.installation is not None:
        lines.append(
            SpentBudget("installation_day", "usd", spent.installation, budgets.installation, "BUDGET_DAY_USD")
        )
    return lines


def spent_run(spent: Spent, budget: Budget) -> str:
    """Return a message that names the run's spent budget and says what to do; empty if none is spent."""
    for line in run_lines(spent, budget):
        if line.is_spent:
            return f"{amounts(line)} ({line.setting}). Retry to grant the same budget again"
    return ""


def spent_day(spent: DaySpent, budgets: DayBudgets) -> str:
    """Return a message that names the day's spent budget and says what to do; empty if none is spent."""
    for line in day_lines(spent, budgets):
        if line.is_spent:
            whose = "this project" if line.scope == "project_day" else "all projects"
            return (
                f"{amounts(line)} for {whose} on {spent.day} UTC ({line.setting}). "
                "Retry after midnight UTC, or raise the setting and restart the service"
            )
    return ""


def amounts(line: SpentBudget) -> str:
    """Word how much of a budget is spent."""
    if line.unit == "tokens":
        return f"{line.spent:,.0f} tokens are used; the budget is {line.budget:,.0f}"
    return f"{dollars(line.spent)} are spent; the budget is {dollars(line.budget)}"


def dollars(amount: float) -> str:
    """Format US dollars. Small amounts keep enough digits to differ from zero."""
    return f"${amount:.2f}" if amount == 0 or amount >= 0.01 else f"${amount:.6f}"
