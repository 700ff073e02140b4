"""What models consume while they judge is the run's, and the judge of a tie sees what it chooses between."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage
from sqlalchemy import select

from app.agents.models.judge import Contender, FirstContender, Judge, JudgeChoice
from app.agents.port import AgentUsage
from app.db.models import Attempt, Candidate, EventRow, Run
from app.realtime.store import Fence
from app.runners.evaluators.llm_evaluator import LLMCodeQualityEvaluator
from app.runners.evaluators.models.prompts import CODE_QUALITY
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.phase_panel import PhasePanel
from app.services.execute.judging import Judging
from app.services.record.history import load_run
from app.services.record.transactions import Recorder
from app.workspaces.store import JudgedPair
from tests.integration.services.support import UseCases, use_cases

pytestmark = pytest.mark.anyio

FENCE = Fence(0, 0)
GOOD = {
    "criteria": [{"criterion": name, "reasoning": "r", "score": 0.9} for name in CODE_QUALITY.criteria],
    "overall_assessment": "all in all",
}


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@dataclass(frozen=True)
class Copies:
    """Gives a tree whose one file names its commit."""

    place: Path

    @asynccontextmanager
    async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
        base, candidate = (self.place / str(uuid4()) for _ in range(2))
        for tree in (base, candidate):
            tree.mkdir(parents=True)
        (candidate / "a.py").write_text(f"x = {commit!r}\n")
        yield JudgedPair(candidate, base, ())

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        return None


class Chooser:
    """Takes the last candidate, and remembers what each had changed."""

    def __init__(self) -> None:
        self.diffs: list[str] = []

    async def choose(self, goal: str, candidates: Sequence[Contender]) -> JudgeChoice:
        self.diffs = [each.diff for each in candidates]
        order = tuple(each.index for each in reversed(candidates))
        return JudgeChoice(order[0], "better", 0.9, "test:judge", AgentUsage(requests=1), order, 7)


def answering(answer: dict[str, Any]) -> FunctionModel:
    def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        usage = RequestUsage(input_tokens=100, output_tokens=10, cost=Decimal("0.25"))
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, answer)], usage=usage)

    return FunctionModel(answers)


async def judge(
    cases: UseCases, place: Path, answer: dict[str, Any], *, candidates: int = 1, chooser: Judge | None = None
) -> Run:
    run_id = await cases.rows.run()
    await cases.rows.attempt(run_id, status="produced", verdict=None, score=None, completed_at=None)
    async with cases.sessions.begin() as session:
        attempt = await session.scalar(select(Attempt).where(Attempt.run_id == run_id))
        assert attempt is not None
        first = await session.scalar(select(Candidate).where(Candidate.attempt_id == attempt.id))
        assert first is not None
        first.head_commit = "a" * 40
        for index in range(1, candidates):
            each = Candidate(
                attempt_id=attempt.id, index=index, agent="a", provider="p", output="", metrics={}
            )
            each.head_commit = "abcdef"[index] * 40
            session.add(each)
    registry = EvaluatorRegistry()
    registry.register(LLMCodeQualityEvaluator(model=answering(answer)))
    recorder = Recorder(cases.sessions, cases.bell)
    panel = PhasePanel(registry)
    judging = Judging(cases.sessions, recorder, panel, Copies(place), chooser or FirstContender())
    async with cases.sessions() as session:
        recorded = await load_run(session, run_id)
    await judging(recorded, 1, FENCE)
    return await cases.rows.get(run_id)


@pytest.mark.parametrize(
    ("answer", "candidates", "requests"),
    [
        pytest.param(GOOD, 1, 1, id="a verdict"),
        pytest.param({"passed": True}, 1, 2, id="no verdict"),
        pytest.param({"passed": True}, 2, 4, id="no verdict about two candidates"),
    ],
)
async def test_what_evaluators_consume_is_the_run_s(
    answer: dict[str, Any], candidates: int, requests: int, cases: UseCases, tmp_path: Path
) -> None:
    run = await judge(cases, tmp_path, answer, candidates=candidates)
    assert run.used_requests == requests
    assert run.used_input_tokens == 100 * requests
    assert run.used_cost_usd == pytest.approx(0.25 * requests)


async def test_the_judge_of_a_tie_sees_every_diff_and_its_order_is_told(
    cases: UseCases, tmp_path: Path
) -> None:
    chooser = Chooser()
    run = await judge(cases, tmp_path, GOOD, candidates=2, chooser=chooser)
    assert ["+x = 'aaaa" in chooser.diffs[0], "+x = 'bbbb" in chooser.diffs[1]] == [True, True]
    assert run.used_requests == 3
    async with cases.sessions() as session:
        statement = select(EventRow.data).where(EventRow.run_id == run.id, EventRow.type == "judge.decided")
        told = await session.scalar(statement)
    assert told is not None
    assert (told["candidate"], told["order"], told["seed"]) == (1, [1, 0], 7)
