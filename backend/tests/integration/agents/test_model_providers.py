"""The agent against servers that speak the providers' protocols, with all that goes wrong there."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from llmock.scenarios import Behavior, Delay, Fail, StreamFault, ToolFault

from app.agents.built_in.agent import PydanticAiAgent
from app.agents.models.factory import build_model
from app.agents.models.judge import ModelJudge
from app.agents.models.providers import ProviderKeys
from app.agents.port import (
    AgentFailure,
    AgentLimits,
    AgentOutcome,
    AgentResult,
    AgentTask,
    FailureKind,
    ProgressKind,
)
from app.workspaces.process import run_process
from tests.agent_fakes import Listener
from tests.llmock import (
    ANTHROPIC,
    KEY,
    OPENAI,
    OPENAI_CHAT,
    Conversation,
    ModelServer,
    call,
    say,
    two_attempts,
)

pytestmark = pytest.mark.anyio

MODELS = [ANTHROPIC, OPENAI, OPENAI_CHAT]
ALWAYS = None

TEST = "from mean import mean\n\ndef test_mean():\n    assert mean([1, 2, 6]) == 3\n"
BAD = "def mean(values):\n    return sum(values)\n"
GOOD = "def mean(values):\n    return sum(values) / len(values)\n"


def writes(code: str, last: str) -> Conversation:
    return Conversation(
        (
            call("write_file", text="I start with the code.", path="mean.py", content=code),
            call("run_tests"),
            say(last),
        )
    )


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.converse(writes(GOOD, "The mean is right now.\nCoding Complete"))
    return running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "a workspace"
    root.mkdir()
    (root / "test_mean.py").write_text(TEST)
    return root


async def work(
    keys: ProviderKeys,
    model: str,
    workspace: Path,
    *,
    limits: AgentLimits | None = None,
    prompt: str = "Mend mean",
    silence: float = 60.0,
) -> tuple[AgentOutcome, Listener]:
    agent = PydanticAiAgent(
        model,
        partial(build_model, keys=keys),
        run_process,
        Path(sys.executable),
        silence_seconds=silence,
        retry_pause=0.0,
    )
    listener = Listener()
    task = AgentTask("coding", 1, prompt, workspace, limits or AgentLimits(seconds=120.0))
    return await agent.run(task, listener), listener


def failed(outcome: AgentOutcome) -> AgentFailure:
    assert isinstance(outcome, AgentFailure), outcome
    assert KEY not in outcome.message
    return outcome


@pytest.mark.parametrize("model", MODELS)
async def test_a_model_mends_code_with_its_tools(model: str, server: ModelServer, workspace: Path) -> None:
    outcome, listener = await work(server.keys(), model, workspace)
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output.endswith("Coding Complete")
    assert outcome.model == model
    assert (outcome.usage.requests, outcome.usage.tool_calls) == (3, 2)
    assert outcome.usage.input_tokens > 0
    assert outcome.usage.output_tokens > 0
    # A local model has no price, and unknown is not zero.
    assert (outcome.usage.cost_usd is None) == (model == OPENAI_CHAT)
    assert (workspace / "mean.py").read_text() == GOOD
    assert [each.tool for each in listener.heard if each.kind is ProgressKind.TOOL_RESULT] == [
        "write_file",
        "run_tests",
    ]
    assert "1 passed" in listener.texts(ProgressKind.TOOL_RESULT)[1]
    assert listener.texts(ProgressKind.TEXT) == [
        "I start with the code.",
        "The mean is right now.",
        "Coding Complete",
    ]


@pytest.mark.parametrize("model", MODELS)
async def test_feedback_in_the_prompt_leads_to_a_better_answer(
    model: str, server: ModelServer, workspace: Path
) -> None:
    server.converse(
        *two_attempts(
            bad=writes(BAD, "Done.").turns, good=writes(GOOD, "Mended.").turns, feedback="test_mean"
        )
    )
    first, listener = await work(server.keys(), model, workspace)
    assert isinstance(first, AgentResult)
    assert "1 failed" in listener.texts(ProgressKind.TOOL_RESULT)[1]
    second, listener = await work(server.keys(), model, workspace, prompt="Mend mean. FIX: test_mean fails")
    assert isinstance(second, AgentResult)
    assert second.output == "Mended."
    assert "1 passed" in listener.texts(ProgressKind.TOOL_RESULT)[1]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("fault", "kind", "requests"),
    [
        pytest.param(Fail(401, times=ALWAYS), FailureKind.CONFIGURATION, 1, id="401"),
        pytest.param(Fail(403, times=ALWAYS), FailureKind.CONFIGURATION, 1, id="403"),
        pytest.param(Fail(404, times=ALWAYS), FailureKind.CONFIGURATION, 1, id="404"),
        pytest.param(Fail(400, times=ALWAYS), FailureKind.CONFIGURATION, 1, id="400"),
        pytest.param(Fail(429, retry_after=0, times=ALWAYS), FailureKind.UNAVAILABLE, 3, id="429"),
        pytest.param(Fail(429, retry_after=90, times=ALWAYS), FailureKind.UNAVAILABLE, 1, id="429 for long"),
        pytest.param(Fail(500, times=ALWAYS), FailureKind.UNAVAILABLE, 3, id="500"),
        pytest.param(Fail(529, retry_after=0, times=ALWAYS), FailureKind.UNAVAILABLE, 3, id="529"),
        pytest.param(StreamFault("truncate", after_chunks=0), FailureKind.UNAVAILABLE, 1, id="empty stream"),
        pytest.param(StreamFault("truncate", after_chunks=4), FailureKind.UNAVAILABLE, 1, id="cut stream"),
        pytest.param(StreamFault("disconnect", after_chunks=4), FailureKind.UNAVAILABLE, 1, id="disconnect"),
        pytest.param(StreamFault("malformed", after_chunks=4), FailureKind.PROTOCOL, 1, id="invalid JSON"),
        pytest.param(
            ToolFault("malformed_arguments", times=ALWAYS), FailureKind.PROTOCOL, None, id="bad calls"
        ),
    ],
)
async def test_failures_are_told_apart(
    model: str, fault: Behavior, kind: FailureKind, requests: int | None, server: ModelServer, workspace: Path
) -> None:
    server.add(fault)
    outcome, _ = await work(server.keys(), model, workspace)
    assert failed(outcome).kind is kind
    assert outcome.model == model
    if requests is not None:
        assert len(server.requests) == requests


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("status", [429, 500, 529])
async def test_a_passing_fault_is_got_over(
    model: str, status: int, server: ModelServer, workspace: Path
) -> None:
    server.add(Fail(status, retry_after=0))
    outcome, _ = await work(server.keys(), model, workspace)
    assert isinstance(outcome, AgentResult), outcome
    assert len(server.requests) == 4


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "fault", [None, StreamFault("truncate", after_chunks=4)], ids=["at its limit", "cut"]
)
async def test_a_claim_that_was_cut_short_is_no_success(
    model: str, fault: StreamFault | None, server: ModelServer, workspace: Path
) -> None:
    server.converse(
        Conversation((say("Everything works. Coding Complete", "length" if not fault else None),))
    )
    if fault:
        server.add(fault)
    outcome, _ = await work(server.keys(), model, workspace)
    assert failed(outcome).kind is (FailureKind.UNAVAILABLE if fault else FailureKind.LIMIT)


@pytest.mark.parametrize("model", MODELS)
async def test_a_server_that_falls_silent_is_unavailable(
    model: str, server: ModelServer, workspace: Path
) -> None:
    server.add(Delay(3.0))
    outcome, _ = await work(server.keys(), model, workspace, silence=0.3)
    assert failed(outcome).kind is FailureKind.UNAVAILABLE


@pytest.mark.parametrize("model", MODELS)
async def test_the_time_limit_ends_a_request(model: str, server: ModelServer, workspace: Path) -> None:
    server.add(Delay(3.0))
    outcome, _ = await work(server.keys(), model, workspace, limits=AgentLimits(seconds=0.3))
    assert failed(outcome).kind is FailureKind.LIMIT


async def test_cancelling_ends_a_request(server: ModelServer, workspace: Path) -> None:
    server.add(Delay(3.0))
    task = asyncio.create_task(work(server.keys(), ANTHROPIC, workspace))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        pytest.param(AgentLimits(seconds=120.0, requests=1), "request_limit", id="requests"),
        pytest.param(AgentLimits(seconds=120.0, total_tokens=10), "total_tokens_limit", id="tokens"),
        pytest.param(AgentLimits(seconds=120.0, cost_usd=0.000001), "the limit is $1e-06", id="cost"),
    ],
)
async def test_limits_hold_and_what_was_spent_is_known(
    limits: AgentLimits, told: str, server: ModelServer, workspace: Path
) -> None:
    outcome, _ = await work(server.keys(), OPENAI, workspace, limits=limits)
    assert failed(outcome).kind is FailureKind.LIMIT
    assert told in failed(outcome).message
    assert outcome.usage.total_tokens > 0
    assert outcome.usage.cost_usd


@pytest.mark.parametrize("model", MODELS)
async def test_nobody_there_is_unavailable(model: str, workspace: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        outcome, _ = await work(ProviderKeys(KEY, KEY, url, url), model, workspace)
    assert failed(outcome).kind is FailureKind.UNAVAILABLE


@pytest.mark.parametrize("model", MODELS)
async def test_a_missing_key_asks_nobody(model: str, server: ModelServer, workspace: Path) -> None:
    outcome, _ = await work(ProviderKeys(), model, workspace)
    assert failed(outcome).kind is FailureKind.CONFIGURATION
    assert "_API_KEY" in failed(outcome).message
    assert not server.requests


@pytest.mark.parametrize("model", [ANTHROPIC, OPENAI, OPENAI_CHAT])
async def test_a_judge_answers_in_a_structure(model: str, server: ModelServer) -> None:
    class Candidate:
        changed_files = ("a.py",)
        diff = "+x = 1"

        def __init__(self, index: int) -> None:
            self.index = index
            self.output = f"solution {index}"

    verdict = {"comparison": "c", "rationale": "r", "choice": 1, "score": 0.5}
    server.converse(Conversation((call("final_result", **verdict),), contains=("solution 1",)))
    judge = ModelJudge(model, partial(build_model, keys=server.keys()))
    choice = await judge.choose("Mend mean", [Candidate(0), Candidate(1)])
    assert (choice.index, choice.score, choice.rationale) == (1, 0.5, "r")
    assert choice.usage.requests == 1
