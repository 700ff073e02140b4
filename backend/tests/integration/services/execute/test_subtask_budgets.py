"""Budgets that a loop shares with its subtasks: one that a person grants again is granted above, too."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.agents.port import FailureKind
from app.db.models import Run
from app.runners.loop.roles import LoopParts, LoopRole, RoleTask, Trouble
from app.schemas.api.escalations import EscalationResolve
from app.schemas.loop.results import FailureReason, TaskResult, TaskStatus
from app.schemas.runs import EscalationDecision, EscalationReason
from app.services.record.budgets import BudgetKeeper
from tests.integration.services.loop_support import USAGE, Came, KilledError, LoopEngine, Parts, judged
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

MEASURE = "Measure it"
MOST_REFUSALS = 5


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@dataclass
class BoundedParts(Parts):
    """Parts whose models are asked only while a budget is left, as those of the service are."""

    keeper: BudgetKeeper | None = None
    refusals: int = 0

    @asynccontextmanager
    async def open(self, run: Run) -> AsyncGenerator[LoopParts]:
        async with super().open(run) as parts:
            bounded = {"director": self._bounded(run, parts.director)}
            yield replace(parts, **bounded, evaluator=self._bounded(run, parts.evaluator))

    def _bounded(self, run: Run, role: LoopRole) -> LoopRole:
        async def ask(task: RoleTask) -> Came:
            assert self.keeper is not None
            spent = await self.keeper.spent(run.id)
            if spent is None:
                return await role(task)
            self.refusals += 1
            if self.refusals > MOST_REFUSALS:
                raise KilledError
            return Trouble(FailureReason.EXECUTION_HALTED, spent, kind=FailureKind.BUDGET)

        return ask


def directs(task: RoleTask) -> TaskResult:
    """Ask for a subtask, and build on what came of it; in the subtask, measure."""
    if MEASURE in task.description:
        return TaskResult(content=f"{task.iteration} kN", usage=USAGE)
    if "subtask_result" in task.inputs:
        return TaskResult(content="built", usage=USAGE)
    asked = {"type": "director_evaluator_loop", "description": MEASURE}
    return TaskResult(
        content="first a subtask",
        status=TaskStatus.CONTINUATION,
        notes={"subtask_request": asked},
        usage=USAGE,
    )


def judges(task: RoleTask) -> TaskResult:
    return judged("1 kN" not in str(task.inputs))


async def test_a_budget_that_is_granted_to_a_subtask_is_granted_above_it(cases: UseCases) -> None:
    parts = BoundedParts(director=directs, evaluator=judges, keeper=cases.intake.budgets)
    engine = LoopEngine(cases, parts)
    run_id = await engine.start(budget={"cost_usd": 0.75})
    await engine.advance(run_id)
    (node,) = (await cases.loops.get(run_id)).subtasks
    subtask = await engine.until_rest(node.run_id)
    (asked,) = subtask.escalations
    assert asked.reason_kind is EscalationReason.BUDGET_EXHAUSTED
    again = EscalationResolve(decision=EscalationDecision.RETRY)
    await cases.escalations.resolve(asked.id, again, "ada")
    subtask = await engine.until_rest(node.run_id)
    assert subtask.status == "completed"
    assert parts.refusals == 0


async def test_a_subtask_asks_a_person_if_the_budget_above_it_is_spent(cases: UseCases) -> None:
    parts = BoundedParts(director=directs, evaluator=judges, keeper=cases.intake.budgets)
    engine = LoopEngine(cases, parts)
    run_id = await engine.start(budget={"cost_usd": 2.0})
    await engine.advance(run_id)
    async with cases.sessions.begin() as session:
        (await session.get_one(Run, run_id)).used_cost_usd = 2.0
    (node,) = (await cases.loops.get(run_id)).subtasks
    subtask = await engine.until_rest(node.run_id)
    assert subtask.escalations[0].reason == (
        "in a loop above the subtask, $2.00 are spent; the budget is $2.00 "
        "(budget.cost_usd, at most RUN_MAX_COST_USD). Retry to grant the same budget again"
    )
    again = EscalationResolve(decision=EscalationDecision.RETRY)
    await cases.escalations.resolve(subtask.escalations[0].id, again, "ada")
    assert (await cases.loops.get(run_id)).policy.budget.cost_usd == 3.75
    assert (await engine.until_rest(node.run_id)).status == "completed"
