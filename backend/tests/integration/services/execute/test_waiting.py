"""Runs that wait for their model: as a row, without using up an attempt, and told not to wait."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

from app.agents.port import AgentFailure, AgentOutcome, AgentTask, AgentUsage, FailureKind
from app.core.errors import ConflictError
from app.db.models import EventRow
from app.runners.evaluators.models.outage import MODEL_FAILURE
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.api.escalations import EscalationResolve
from app.schemas.runs import Budget, EscalationDecision
from tests.integration.services.engine_support import Agents, Engine, Say
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as built:
        yield built


async def is_limited(task: AgentTask) -> AgentOutcome:
    at = datetime.now(UTC) + timedelta(minutes=5)
    return AgentFailure(FailureKind.UNAVAILABLE, "the rate limit is reached", retry_at=at)


async def is_limited_for_days(task: AgentTask) -> AgentOutcome:
    at = datetime.now(UTC) + timedelta(days=3)
    return AgentFailure(FailureKind.UNAVAILABLE, "the rate limit is reached", retry_at=at)


async def is_down(task: AgentTask) -> AgentOutcome:
    return AgentFailure(FailureKind.UNAVAILABLE, "the connection failed")


async def reaches_a_limit(task: AgentTask) -> AgentOutcome:
    return AgentFailure(FailureKind.LIMIT, "100 requests were made", AgentUsage(requests=100))


async def test_a_limit_with_an_end_is_a_row_and_goes_on_once(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents([is_limited])
    engine = Engine(cases, tmp_path, agents)
    run_id = await engine.run()
    await engine.advance(run_id)
    run, (attempt,) = await cases.rows.get(run_id), await engine.attempts(run_id)
    assert run.status_reason.startswith("waits for the provider until ")
    assert (run.status, attempt.status, attempt.agent_failures) == ("active", "agent_failed", 0)
    assert attempt.provider_reset_at == attempt.not_before is not None
    await engine.advance(run_id)
    assert agents.asked == [("coding", 1)], "a worker that comes too early changes nothing"
    await cases.pauses.resume(run_id, "ada")
    assert await engine.until_rest(run_id) == "completed"
    assert agents.asked == [("coding", 1), ("coding", 1)]
    (attempt,) = await engine.attempts(run_id)
    assert (attempt.number, attempt.unavailable_failures, attempt.provider_reset_at) == (1, 0, None)
    with pytest.raises(ConflictError):
        await cases.pauses.resume(run_id, "ada")


async def test_a_limit_that_ends_too_late_asks_a_human(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents([is_limited_for_days]))
    run_id = await engine.run()
    assert await engine.until_rest(run_id) == "waiting"
    assert "MODEL_RESET_WAIT_SECONDS" in (await engine.escalation(run_id)).reason


async def test_failures_of_the_model_do_not_add_to_those_of_the_agent(
    cases: UseCases, tmp_path: Path
) -> None:
    async def crashes(task: AgentTask) -> AgentOutcome:
        return AgentFailure(FailureKind.CRASH, "it crashed")

    engine = Engine(cases, tmp_path, Agents([is_down, crashes, is_down]))
    run_id = await engine.run(max_agent_failures=2)
    assert await engine.until_rest(run_id) == "completed"


async def test_work_before_a_limit_is_judged(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents([reaches_a_limit])
    engine = Engine(cases, tmp_path, agents)
    run_id = await engine.run()
    assert await engine.until_rest(run_id) == "completed"
    (attempt,) = await engine.attempts(run_id)
    assert (attempt.status, attempt.agent_failures) == ("passed", 0)
    assert "100 requests were made" in attempt.output
    assert agents.asked == [("coding", 1)]


async def test_the_next_try_goes_on_with_the_work_and_the_reason(cases: UseCases, tmp_path: Path) -> None:
    prompts: list[str] = []

    async def works(task: AgentTask) -> AgentOutcome:
        prompts.append(task.prompt)
        return await is_down(task)

    engine = Engine(cases, tmp_path, Agents([is_down, works]))
    run_id = await engine.run()
    await engine.advance(run_id)
    (attempt,) = await engine.attempts(run_id)
    assert attempt.head_commit is not None
    assert await engine.until_rest(run_id) == "completed"
    assert "the connection failed" in prompts[0]
    assert "Its changes are in the workspace." in prompts[0]


async def test_a_spent_budget_escalates_and_says_what_to_do(cases: UseCases, tmp_path: Path) -> None:
    async def pays(task: AgentTask) -> AgentOutcome:
        return AgentFailure(FailureKind.BUDGET, "$2.00 are spent", AgentUsage(requests=1, cost_usd=2.0))

    engine = Engine(cases, tmp_path, Agents([pays]))
    run_id = await engine.run(budget=Budget(cost_usd=1.0))
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert escalation.reason_kind == "budget_exhausted"
    assert "RUN_MAX_COST_USD" in escalation.reason
    assert (await engine.attempts(run_id))[0].agent_failures == 0


async def test_a_granted_budget_goes_on_at_once_although_the_run_was_resting(
    cases: UseCases, tmp_path: Path
) -> None:
    async def pays_and_is_limited(task: AgentTask) -> AgentOutcome:
        at, used = datetime.now(UTC) + timedelta(hours=5), AgentUsage(requests=1, cost_usd=2.0)
        return AgentFailure(FailureKind.UNAVAILABLE, "the rate limit is reached", used, retry_at=at)

    engine = Engine(cases, tmp_path, Agents([pays_and_is_limited]))
    run_id = await engine.run(budget=Budget(cost_usd=1.0))
    assert await engine.until_rest(run_id) == "waiting"
    asked = await engine.escalation(run_id)
    assert asked.reason_kind == "budget_exhausted"
    await cases.escalations.resolve(asked.id, EscalationResolve(decision=EscalationDecision.RETRY), "ada")
    async with cases.sessions() as session:
        due = text("SELECT coalesce(scheduled_at <= now(), true) FROM procrastinate_jobs WHERE lock = :lock")
        assert (await session.scalars(due, {"lock": str(run_id)})).all() == [True]


def answers_after(failures: int) -> Say:
    """Reach no verdict that often, and then pass."""
    left = [EvaluationStatus.ERRORED] * failures

    async def say(phase: str, attempt: int) -> EvaluationStatus:
        return left.pop() if left else EvaluationStatus.PASSED

    return say


def model_is_away(phase: str, attempt: int) -> dict[str, Any]:
    return {MODEL_FAILURE: {"kind": "unavailable", "timed_out": False, "retry_at": None}}


def limit_ends_later(phase: str, attempt: int) -> dict[str, Any]:
    at = datetime.now(UTC) + timedelta(minutes=5)
    return {MODEL_FAILURE: {"kind": "unavailable", "timed_out": False, "retry_at": at.isoformat()}}


async def test_a_judge_whose_server_is_away_is_waited_for(cases: UseCases, tmp_path: Path) -> None:
    agents = Agents()
    engine = Engine(cases, tmp_path, agents, answers_after(1), notes=model_is_away)
    run_id = await engine.run(retry_base_seconds=30.0)
    await engine.advance(run_id)
    run, (attempt,) = await cases.rows.get(run_id), await engine.attempts(run_id)
    assert run.status_reason.startswith("waits for the model of gate, which is unavailable")
    assert (attempt.status, attempt.evaluation_failures, attempt.unavailable_failures) == ("produced", 0, 1)
    await cases.pauses.resume(run_id, "ada")
    assert await engine.until_rest(run_id) == "completed"
    (attempt,) = await engine.attempts(run_id)
    assert (attempt.unavailable_failures, attempt.unavailable_since) == (0, None)
    assert agents.asked == [("coding", 1)], "the agent does not work again"


async def test_outages_do_not_add_to_the_failures_of_evaluators(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents(), answers_after(6), notes=model_is_away)
    run_id = await engine.run(max_evaluation_failures=2, max_unavailable_seconds=600.0)
    assert await engine.until_rest(run_id) == "completed"


async def test_a_judge_that_stays_away_is_a_reason_of_its_own(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents(), answers_after(50), notes=model_is_away)
    run_id = await engine.run(max_agent_failures=4)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert escalation.reason_kind == "evaluator_unavailable"
    assert escalation.reason.startswith("The evaluators' model was unavailable 4 times in a row")


async def test_the_end_of_a_judges_limit_is_waited_for(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents(), answers_after(1), notes=limit_ends_later)
    run_id = await engine.run()
    await engine.advance(run_id)
    await engine.advance(run_id)
    run, (attempt,) = await cases.rows.get(run_id), await engine.attempts(run_id)
    assert run.status_reason.startswith("waits for the provider until ")
    assert attempt.provider_reset_at == attempt.not_before is not None
    await cases.pauses.resume(run_id, "ada")
    assert await engine.until_rest(run_id) == "completed"


async def test_other_failures_of_a_judge_keep_their_limit(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents(), answers_after(6))
    run_id = await engine.run(max_evaluation_failures=2)
    assert await engine.until_rest(run_id) == "waiting"
    assert "The evaluators reached no verdict 2 times" in (await engine.escalation(run_id)).reason


async def failures_told(cases: UseCases, run_id: UUID, event: str) -> list[float | None]:
    async with cases.sessions() as session:
        statement = select(EventRow.data).where(EventRow.run_id == run_id, EventRow.type == event)
        rows = (await session.scalars(statement.order_by(EventRow.sequence))).all()
    return [each["retry_in_seconds"] for each in rows]


async def test_the_last_failure_names_no_next_try(cases: UseCases, tmp_path: Path) -> None:
    engine = Engine(cases, tmp_path, Agents([is_down] * 4))
    run_id = await engine.run(max_agent_failures=4)
    assert await engine.until_rest(run_id) == "waiting"
    told = await failures_told(cases, run_id, "agent.failed")
    assert [each is None for each in told] == [False, False, False, True]
    assert "in a row" in (await engine.escalation(run_id)).reason


async def test_the_escalation_says_that_no_file_was_changed(cases: UseCases, tmp_path: Path) -> None:
    async def fails(phase: str, attempt: int) -> EvaluationStatus:
        return EvaluationStatus.FAILED

    engine = Engine(cases, tmp_path, Agents(), fails)
    engine.trees.changes = ()
    run_id = await engine.run(max_attempts=1)
    assert await engine.until_rest(run_id) == "waiting"
    escalation = await engine.escalation(run_id)
    assert escalation.reason == "1 of 1 attempts failed. No file was changed"
    assert (await cases.escalations.get(escalation.id)).changed_files == []
