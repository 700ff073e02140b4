"""Loops and answers over both providers' protocols: what is sent, what comes back, and what goes wrong."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llmock.scenarios import Fail

from app.agents.models.factory import build_model
from app.runners.answer.evidence import WorkspaceEvidence
from app.runners.answer.synthesizer import SynthesizerAgent
from app.runners.director_evaluator import DirectorEvaluator
from app.runners.evaluators.response_evaluator import EvaluatorAgent
from app.runners.loop.agents import ModelDirector, ModelEvaluatorRole
from app.runners.loop.files import WorkspaceContext
from app.runners.response_retry import AnswerOutcome, AnswerStatus, ResponseRetry
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import FailureReason, LoopEnd, LoopResult, TaskFailure
from app.schemas.response_evaluation import DIMENSIONS
from tests.llmock import ANTHROPIC, KEY, OPENAI, OPENAI_CHAT, Conversation, ModelServer, Turn, call

pytestmark = pytest.mark.anyio

MODELS = [ANTHROPIC, OPENAI, OPENAI_CHAT]
NO_RETRY = {"retry_pause": 0.0}


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.converse()
    return running


def gives(**answer: Any) -> Turn:
    return call("final_result", **answer)


def proposes(content: str, **more: Any) -> Turn:
    return gives(content=content, **more)


def opinion(success: bool, feedback: str) -> Turn:
    return gives(feedback=feedback, violations=[], suggestions=[], success=success)


def loop(**changed: Any) -> DirectorEvaluatorLoop:
    given: dict[str, Any] = {
        "description": "Write a line about tea.",
        "director": {
            "description": "Write the line.",
            "inputs": [{"name": "feedback", "from": "evaluation_feedback"}],
        },
        "evaluator": {
            "description": "Judge the line.",
            "inputs": [{"name": "solution", "from": "director_result"}],
        },
    }
    return DirectorEvaluatorLoop.model_validate({**given, **changed})


async def run(
    model: str, server: ModelServer, definition: DirectorEvaluatorLoop, workspace: Path | None = None
) -> LoopResult:
    built = build_model(model, server.keys())
    door = DirectorEvaluator(
        director=ModelDirector(model=built, workspace=workspace, **NO_RETRY),
        evaluator=ModelEvaluatorRole(model=built, workspace=workspace, **NO_RETRY),
        files=WorkspaceContext(workspace=workspace) if workspace else None,
    )
    result = await door.run(definition)
    assert KEY not in result.model_dump_json()
    return result


@pytest.mark.parametrize("model", MODELS)
async def test_a_loop_is_refined_by_what_the_evaluator_says(model: str, server: ModelServer) -> None:
    server.converse(
        Conversation((opinion(False, "name the leaf"),), contains=("Judge the line.", "| hot water")),
        Conversation((opinion(True, "good"),), contains=("Judge the line.", "| assam in hot water")),
        Conversation((proposes("assam in hot water"),), contains=("Write the line.", "| name the leaf")),
        Conversation((proposes("hot water"),), contains=("Write the line.",)),
    )
    result = await run(model, server, loop())
    assert (result.ended_by, result.final_output) == (LoopEnd.SUCCESS, "assam in hot water")
    assert [each.turns for each in result.iteration_history] == [2, 2]
    assert result.usage.requests == 4
    for each in result.iteration_history:
        assert each.usage.director is not None
        assert each.usage.evaluator is not None
        assert each.usage.director.input_tokens > 50
    # An unknown price is not zero.
    assert (result.usage.cost_usd is None) == (model == OPENAI_CHAT)


@pytest.mark.parametrize("model", MODELS)
async def test_a_director_is_told_what_its_subtask_found(model: str, server: ModelServer) -> None:
    server.converse(
        Conversation((opinion(True, "good"),), contains=("Judge",)),
        Conversation((proposes("95 degrees"),), contains=("Your task:\nFind the heat",)),
        Conversation((proposes("tea at 95 degrees"),), contains=("Write the line.", "95 degrees")),
        Conversation(
            (proposes("so far", subtask={"description": "Find the heat", "may_iterate": False}),),
            contains=("Write the line.",),
        ),
    )
    result = await run(model, server, loop())
    assert (result.success, result.final_output) == (True, "tea at 95 degrees")
    (iteration,) = result.iteration_history
    (exchange,) = iteration.exchanges
    assert exchange.result is not None
    assert (exchange.result.content, exchange.result.notes["success"]) == ("95 degrees", True)
    assert (result.usage.requests, iteration.turns) == (5, 5)


@pytest.mark.parametrize("model", MODELS)
async def test_a_director_looks_into_the_workspace(model: str, server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "leaf.txt").write_text("assam\n")
    (tmp_path / ".env").write_text("TEA_TOKEN=tea\n")
    server.converse(
        Conversation((opinion(True, "good"),), contains=("Judge the line.",)),
        Conversation((call("read_file", path="leaf.txt"), proposes("assam")), contains=("Write the line.",)),
    )
    definition = loop(director={"description": "Write the line.", "tools": ["read_file"]})
    result = await run(model, server, definition, tmp_path)
    assert (result.success, result.final_output) == (True, "assam")
    sent = [json.dumps(each.body) for each in server.requests]
    assert "assam" in sent[1]
    assert "write_file" not in sent[0]
    assert not any("TEA_TOKEN" in each for each in sent)


@pytest.mark.parametrize("model", MODELS)
async def test_an_outage_ends_the_loop_with_what_it_has(model: str, server: ModelServer) -> None:
    server.converse(
        Conversation((opinion(False, "name the leaf"),), contains=("Judge the line.",)),
        Conversation((proposes("hot water"),), contains=("Write the line.",), lacks=("| name the leaf",)),
    )
    result = await run(model, server, loop())
    assert result.ended_by is LoopEnd.ERROR
    assert isinstance(result.error, TaskFailure)
    assert result.error.reason is FailureReason.EXECUTION_HALTED
    assert [each.output for each in result.iteration_history] == ["hot water", None]
    assert result.error.details.partial_results == result.iteration_history


@pytest.mark.parametrize("model", MODELS)
async def test_a_short_outage_is_got_over(model: str, server: ModelServer) -> None:
    server.converse(
        Conversation((opinion(True, "good"),), contains=("Judge the line.",)),
        Conversation((proposes("hot water"),), contains=("Write the line.",)),
    )
    server.add(Fail(429), Fail(500))
    assert (await run(model, server, loop())).success


def judgement(*insufficient: str, lacks_data: bool = False) -> Turn:
    dimensions = [
        {
            "dimension": each,
            "reasoning": f"{each} because",
            "issues": ["how long the leaves steep is not said"] if each in insufficient else [],
            "sufficient": each not in insufficient,
            "lacks_data": lacks_data and each == "accuracy",
        }
        for each in DIMENSIONS
    ]
    return gives(dimensions=dimensions, feedback=[])


def writes(answer: str) -> Turn:
    return gives(analysis={"summary": "", "findings": [], "gaps": []}, answer=answer)


async def answer(model: str, server: ModelServer, evidence: WorkspaceEvidence | None = None) -> AnswerOutcome:
    built = build_model(model, server.keys())
    door = ResponseRetry(
        synthesizer=SynthesizerAgent(model=built, **NO_RETRY),
        evaluator=EvaluatorAgent(model=built, **NO_RETRY),
        evidence=evidence,
    )
    return await door.answer("How is tea made?", ["water: boil it"], ["Name the sources."])


@pytest.mark.parametrize("model", MODELS)
async def test_an_answer_gets_the_evidence_that_it_lacked(
    model: str, server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "steeping.md").write_text("The leaves steep for three minutes.\n")
    (tmp_path / "secrets.txt").write_text("steep\n")
    server.converse(
        Conversation((judgement(),), contains=("Judge accuracy", "| three minutes")),
        Conversation((judgement("accuracy", lacks_data=True),), contains=("Judge accuracy",)),
        Conversation((writes("three minutes"),), contains=("steeping.md:1-1", "how long the leaves steep")),
        Conversation((writes("some minutes"),), lacks=("steeping.md",)),
    )
    outcome = await answer(model, server, await WorkspaceEvidence.of_workspace(tmp_path))
    assert (outcome.status, outcome.answer) == (AnswerStatus.ACCEPTED, "three minutes")
    assert [len(each.entries) for each in outcome.attempts] == [1, 2]
    assert "Name the sources." in json.dumps(server.requests[0].body)
    assert all(each.synthesis.usage.requests == 1 for each in outcome.attempts)


@pytest.mark.parametrize("model", MODELS)
async def test_an_answer_that_stays_insufficient_is_partial_after_three_attempts(
    model: str, server: ModelServer
) -> None:
    server.converse(
        Conversation((judgement("completeness"),), contains=("Judge accuracy",)),
        Conversation((writes("some minutes"),), lacks=("Judge accuracy",)),
    )
    outcome = await answer(model, server)
    assert (outcome.status, outcome.answer) == (AnswerStatus.PARTIAL, "some minutes")
    assert outcome.gaps == ("how long the leaves steep is not said",)
    assert len(outcome.attempts) == 3
    assert "This is attempt 3" in json.dumps(server.requests[4].body)


@pytest.mark.parametrize("model", MODELS)
async def test_an_answer_that_nobody_could_judge_is_not_delivered(model: str, server: ModelServer) -> None:
    server.converse(Conversation((writes("some minutes"),), lacks=("Judge accuracy",)))
    outcome = await answer(model, server)
    assert (outcome.status, outcome.answer) == (AnswerStatus.UNAVAILABLE, None)
