"""What asks a model while a run advances finds out what its requests belong to."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from app.agents.gateway_port import RequestLabels, current_labels
from app.agents.port import AgentOutcome, AgentTask
from app.runners.evaluators.protocol import EvaluationStatus
from app.schemas.runs import ModelRole
from tests.integration.services.engine_support import Agents, Engine, works
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


async def test_agents_and_evaluators_ask_under_their_attempt(cases: UseCases, tmp_path: Path) -> None:
    seen: list[RequestLabels] = []

    async def asks(task: AgentTask) -> AgentOutcome:
        seen.append(current_labels())
        return await works(task)

    async def judges(phase: str, attempt: int) -> EvaluationStatus:
        seen.append(current_labels())
        return EvaluationStatus.PASSED if attempt == 2 else EvaluationStatus.FAILED

    engine = Engine(cases, tmp_path, Agents([asks, asks]), judges)
    run_id = await engine.run("coding")
    await engine.until_rest(run_id)
    assert seen == [
        RequestLabels(run_id, "coding", attempt, 0, role)
        for attempt in (1, 2)
        for role in (ModelRole.AGENT, ModelRole.JUDGE)
    ]
    assert current_labels() == RequestLabels()
