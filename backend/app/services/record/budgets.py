"""Checks the budgets of a run, its project and the installation before each model request."""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import PhaseRunnerError
from app.db.engine import Sessions
from app.db.models import Run
from app.db.outages import through_outages
from app.gateway.ledger import Ledger
from app.runners.budgets import DayBudgets, spent_day, spent_run
from app.runners.facts import Spent
from app.schemas.runs import Budget, RunPolicy
from app.services.record.accounts import load_day, load_grants

_MAX_REMEMBERED = 10_000


class BudgetSpentError(PhaseRunnerError):
    """A daily budget is spent, so no new run starts."""

    status = 409
    code = "budget-spent"
    title = "A budget is spent"


class BudgetKeeper:
    """Checks budgets; implements `app.gateway.ledger.Budgets`.

    Two agents that ask at the same time can overspend by at most one request each: a check first stores the
    requests of this process, and then reads the sums over all processes.

    Args:
        sessions: opens short sessions for reading.
        ledger: holds the requests of this process.
        days: the operator's daily budgets.
    """

    def __init__(self, sessions: Sessions, ledger: Ledger, days: DayBudgets) -> None:
        self._sessions = sessions
        self._ledger = ledger
        self._days = days
        self._bounded: dict[UUID, tuple[UUID, ...]] = {}

    async def spent(self, run_id: UUID | None) -> str | None:
        """Return which budget is spent and what to do, or None while the run may ask models."""
        bounded = await self._own_budgets(run_id) if run_id else ()
        if not bounded and not self._days.bounded:
            return None
        await self._ledger.stored()
        return await through_outages(lambda: self._check(run_id, bounded)) or None

    async def check_day(self, project: str) -> None:
        """Refuse a new run if a daily budget is spent.

        Raises:
            BudgetSpentError: a daily budget is spent; the message names the setting and both amounts.
        """
        if self._days.bounded:
            async with self._sessions() as session:
                await self.check_day_in(session, project)

    async def check_day_in(self, session: AsyncSession, project: str) -> None:
        """Refuse a new run as `check_day` does, in a session that is open already.

        Raises:
            BudgetSpentError: a daily budget is spent.
        """
        if reason := await over_day(session, project, self._days):
            raise BudgetSpentError(reason)

    async def _own_budgets(self, run_id: UUID) -> tuple[UUID, ...]:
        """Return the runs with a budget, among a run and those above it; which have one never changes."""
        known = self._bounded.get(run_id)
        if known is None:
            known = await through_outages(lambda: self._find_budgets(run_id))
            if len(self._bounded) >= _MAX_REMEMBERED:
                self._bounded.clear()
            self._bounded[run_id] = known
        return known

    async def _find_budgets(self, run_id: UUID) -> tuple[UUID, ...]:
        found: list[UUID] = []
        above: UUID | None = run_id
        async with self._sessions() as session:
            while above is not None:
                statement = select(Run.policy, Run.parent_run_id).where(Run.id == above)
                row = (await session.execute(statement)).one_or_none()
                if row is None:
                    break
                if RunPolicy.model_validate(row.policy).budget != Budget():
                    found.append(above)
                above = row.parent_run_id
        return tuple(found)

    async def _check(self, run_id: UUID | None, bounded: tuple[UUID, ...]) -> str:
        async with self._sessions() as session:
            for each in bounded:
                if reason := await _over_run(session, each):
                    return reason
            if not self._days.bounded:
                return ""
            project = await session.scalar(select(Run.project).where(Run.id == run_id)) if run_id else ""
            return await over_day(session, project or "", self._days)


async def over_above(session: AsyncSession, parent_run_id: UUID | None) -> str:
    """Return which budget of a subtask's parent, or of a run above that, is spent; empty if none is."""
    above = parent_run_id
    while above is not None:
        if reason := await _over_run(session, above):
            return f"in a loop above the subtask, {reason}"
        above = await session.scalar(select(Run.parent_run_id).where(Run.id == above))
    return ""


async def grant_above(session: AsyncSession, run: Run) -> None:
    """Raise the budgets of the runs above a subtask by the budget that a person grants the subtask again.

    They share what is spent, so without this no model would reply to the subtask. The caller has locked all
    these runs.
    """
    granted, above = RunPolicy.model_validate(run.policy).budget, run.parent_run_id
    while above is not None:
        parent = await session.get_one(Run, above)
        policy = RunPolicy.model_validate(parent.policy)
        raised = policy.model_copy(update={"budget": _sum(policy.budget, granted)})
        parent.policy = raised.model_dump(mode="json")
        parent.version += 1
        above = parent.parent_run_id


def _sum(budget: Budget, more: Budget) -> Budget:
    tokens = None if budget.tokens is None else budget.tokens + (more.tokens or 0)
    cost = None if budget.cost_usd is None else budget.cost_usd + (more.cost_usd or 0.0)
    return Budget(tokens=tokens, cost_usd=cost)


async def over_day(session: AsyncSession, project: str, days: DayBudgets) -> str:
    """Return which of today's budgets is spent; empty if none is."""
    if not days.bounded:
        return ""
    return spent_day(await load_day(session, project, datetime.now(UTC).date()), days)


async def _over_run(session: AsyncSession, run_id: UUID) -> str:
    columns = (Run.policy, Run.used_input_tokens, Run.used_output_tokens, Run.used_cost_usd)
    row = (await session.execute(select(*columns).where(Run.id == run_id))).one_or_none()
    if row is None:
        return ""
    grants = await load_grants(session, run_id)
    spent = Spent(row.used_input_tokens + row.used_output_tokens, row.used_cost_usd or 0.0, grants)
    return spent_run(spent, RunPolicy.model_validate(row.policy).budget)
