"""Agents that are commands: what they do well, and each way in which they go wrong."""

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import anyio.to_thread
import pytest

from app.agents.external import at_work as work_module
from app.agents.external import command as command_module
from app.agents.external import refusals
from app.agents.external.command import drive_command
from app.agents.external.events import AgentEvent, AgentStirred
from app.agents.external.installed import Installed
from app.agents.external.outputs import parser_for
from app.agents.external.profile import OutputFormat
from app.agents.gateway_port import Dialect, GatewayFailure
from app.agents.port import AgentFailure, AgentResult, AgentUsage, FailureKind, ProgressKind
from app.core.errors import InvalidInputError
from app.workspaces.confine.sandbox import Sandbox
from tests.agent_fakes import Listener
from tests.unit.agents.external.support import (
    COMMAND,
    Endpoint,
    FakeGateway,
    agent_of,
    command_profile,
    task_of,
)
from tests.unit.workspaces.test_process import poll

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    return place


@pytest.fixture(scope="module")
async def sandbox() -> Sandbox:
    sandbox = Sandbox()
    state = await sandbox.state()
    if not state.confined:
        pytest.skip(state.detail)
    return sandbox


class _Printing:
    """A program whose output the test writes."""

    def __init__(self) -> None:
        self.stdin = Mock(spec=asyncio.StreamWriter)
        self.stdout = asyncio.StreamReader()
        self.ended = asyncio.Event()

    def stderr(self) -> str:
        """Nothing."""
        return ""

    async def wait(self) -> int:
        """Wait for the test."""
        await self.ended.wait()
        return 0

    async def terminate(self, grace: float) -> int:
        """End at once."""
        return 0


async def test_it_works_tells_and_says_what_it_did(place: Path) -> None:
    gateway, listener = FakeGateway(), Listener()
    outcome = await agent_of(command_profile(), gateway).run(task_of(place, "make it"), listener)
    assert outcome == AgentResult(
        "7 characters", AgentUsage(requests=1, tool_calls=1, input_tokens=5), "some-model"
    )
    assert (place / "done.txt").read_text() == "make it"
    assert listener.texts(ProgressKind.TOOL_CALL) == ["echo > done.txt"]
    assert listener.texts(ProgressKind.TOOL_RESULT) == ["written"]
    assert listener.texts(ProgressKind.TEXT) == ["7 characters"]
    (grant,) = gateway.grants
    assert (grant.dialect, grant.models, grant.confined) == (Dialect.OPENAI_RESPONSES, ("some-model",), False)
    assert gateway.open_now == 0


async def test_it_is_told_the_gateway_and_has_a_home_that_is_gone_afterwards(place: Path) -> None:
    outcome = await agent_of(command_profile()).run(task_of(place, "environment"), Listener())
    assert isinstance(outcome, AgentResult)
    env = json.loads(outcome.output)
    assert (env["MODEL_TOKEN"], env["BASE_URL"]) == ("stands-for-the-key", "http://127.0.0.1:9/v1")
    assert "phaserunner-home-" in env["HOME"]
    assert not os.path.exists(env["HOME"])  # noqa: ASYNC240 - a test may wait for the disk


@pytest.mark.parametrize(
    ("prompt_by", "argv"),
    [
        pytest.param("stdin", ["scripted"], id="stdin"),
        pytest.param("argument", ["scripted", "{prompt}"], id="argument"),
        pytest.param("file", ["scripted", "--file", "{prompt_file}"], id="file"),
    ],
)
async def test_a_prompt_arrives_whole_whichever_way(place: Path, prompt_by: str, argv: list[str]) -> None:
    profile = command_profile(prompt=prompt_by, argv=argv)
    prompt = "write {token} and ünïcode\n" * 100
    outcome = await agent_of(profile).run(task_of(place, prompt), Listener())
    assert isinstance(outcome, AgentResult)
    assert outcome.output == f"{len(prompt)} characters"


@pytest.mark.parametrize("prompt_by", ["stdin", "file"])
async def test_a_prompt_of_a_megabyte_arrives(place: Path, prompt_by: str) -> None:
    argv = ["scripted", *(["--file", "{prompt_file}"] if prompt_by == "file" else [])]
    outcome = await agent_of(command_profile(prompt=prompt_by, argv=argv)).run(
        task_of(place, "w" * 1_000_000), Listener()
    )
    assert isinstance(outcome, AgentResult)
    assert outcome.output == "1000000 characters"


async def test_a_prompt_too_long_for_an_argument_goes_into_a_file_that_the_argument_names(
    place: Path,
) -> None:
    profile = command_profile(prompt="argument", argv=["scripted", "{prompt}"])
    outcome = await agent_of(profile).run(task_of(place, "w" * 1_000_000), Listener())
    assert isinstance(outcome, AgentResult)
    assert (place / "done.txt").read_text().startswith("Do what the file /")


@pytest.mark.parametrize(
    ("prompt", "kind", "said"),
    [
        pytest.param("silent", FailureKind.PROTOCOL, "without a final message", id="ends-without-a-word"),
        pytest.param("crash", FailureKind.CRASH, "status 3: it broke", id="crashes"),
        pytest.param("failed", FailureKind.PROTOCOL, "no luck", id="says-that-it-failed"),
        pytest.param("long", FailureKind.PROTOCOL, "too long to be read", id="prints-a-line-without-end"),
    ],
)
async def test_what_goes_wrong_has_a_reason(place: Path, prompt: str, kind: FailureKind, said: str) -> None:
    outcome = await agent_of(command_profile()).run(task_of(place, prompt), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is kind
    assert said in outcome.message


async def test_success_without_a_request_to_the_model_is_not_believed(place: Path) -> None:
    gateway = FakeGateway(Endpoint(metered=AgentUsage()))
    outcome = await agent_of(command_profile(), gateway).run(task_of(place, "nothing"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert (outcome.kind, outcome.message) == (
        FailureKind.PROTOCOL,
        "scripted-command ended without asking a model",
    )


@pytest.mark.parametrize(
    ("kind", "requests", "is_believed"),
    [
        pytest.param(FailureKind.CONFIGURATION, 0, False, id="no request was answered"),
        pytest.param(FailureKind.UNAVAILABLE, 2, False, id="the last answer broke off"),
        pytest.param(FailureKind.CONFIGURATION, 2, True, id="a side request was refused"),
        pytest.param(FailureKind.LIMIT, 2, True, id="it came to a limit and ended"),
    ],
)
async def test_success_is_not_believed_where_the_model_failed(
    place: Path, kind: FailureKind, requests: int, is_believed: bool
) -> None:
    failure = GatewayFailure(kind, "what the gateway saw")
    gateway = FakeGateway(Endpoint(told=failure, metered=AgentUsage(requests=requests)))
    outcome = await agent_of(command_profile(), gateway).run(task_of(place, "nothing"), Listener())
    assert isinstance(outcome, AgentResult) == is_believed, outcome
    if isinstance(outcome, AgentFailure):
        assert (outcome.kind, outcome.message) == (kind, failure.message)


async def test_success_with_no_change_is_a_result_for_the_gates(place: Path) -> None:
    outcome = await agent_of(command_profile()).run(task_of(place, "nothing"), Listener())
    assert isinstance(outcome, AgentResult)
    assert outcome.output == "All is well already."
    assert os.listdir(place) == []


@pytest.mark.parametrize("prompt", ["failed", "crash", "silent"])
async def test_what_the_gateway_saw_explains_a_failure(place: Path, prompt: str) -> None:
    failure = GatewayFailure(FailureKind.UNAVAILABLE, "the provider is overloaded", datetime.now(UTC))
    gateway = FakeGateway(Endpoint(told=failure))
    outcome = await agent_of(command_profile(), gateway).run(task_of(place, prompt), Listener())
    assert isinstance(outcome, AgentFailure)
    assert (outcome.kind, outcome.message) == (FailureKind.UNAVAILABLE, "the provider is overloaded")


async def test_a_missing_key_is_said_before_anything_starts(place: Path) -> None:
    gateway = FakeGateway(error=InvalidInputError("No key: set OPENAI_API_KEY"))
    outcome = await agent_of(command_profile(), gateway).run(task_of(place, "make it"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert (outcome.kind, outcome.message) == (FailureKind.CONFIGURATION, "No key: set OPENAI_API_KEY")
    assert os.listdir(place) == []


async def test_one_that_stays_after_its_final_event_is_ended_and_its_work_counts(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "SETTLE_SECONDS", 0.2)
    outcome = await agent_of(command_profile()).run(task_of(place, "stays"), Listener())
    assert isinstance(outcome, AgentResult)
    assert outcome.output == "I am done."


async def test_the_deadline_ends_one_that_ignores_term(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "TERM_SECONDS", 0.1)
    outcome = await agent_of(command_profile()).run(task_of(place, "deaf", seconds=1.0), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.LIMIT
    assert "limit of 1 s" in outcome.message


async def test_silence_ends_it_with_what_the_gateway_saw(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_module, "TERM_SECONDS", 0.1)
    profile = command_profile(idle_seconds=0.5)
    outcome = await agent_of(profile).run(task_of(place, "deaf"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.PROTOCOL
    assert "neither said anything nor asked a model for 0.5 s" in outcome.message
    gateway = FakeGateway(Endpoint(told=GatewayFailure(FailureKind.UNAVAILABLE, "the server is gone")))
    outcome = await agent_of(profile, gateway).run(task_of(place, "deaf"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.UNAVAILABLE
    assert outcome.message.startswith("the server is gone (")


async def test_one_that_goes_on_after_a_spent_budget_is_ended(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_module, "TERM_SECONDS", 0.1)
    monkeypatch.setattr(refusals, "_REFUSED_SECONDS", 0.1)
    gateway = FakeGateway(Endpoint(told=GatewayFailure(FailureKind.LIMIT, "the limit of 100 requests")))
    outcome = await agent_of(command_profile(), gateway).run(task_of(place, "deaf"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.LIMIT
    assert outcome.message.startswith("the limit of 100 requests")


@pytest.mark.parametrize("output", ["text", "codex-jsonl"])
async def test_one_that_leaves_a_program_with_its_output_has_ended(place: Path, output: str) -> None:
    outcome = await agent_of(command_profile(output=output)).run(task_of(place, "serves"), Listener())
    if output == "text":
        assert isinstance(outcome, AgentResult), outcome
        assert outcome.output.endswith("The server runs.")
    else:
        assert isinstance(outcome, AgentFailure), outcome
        assert "ended without a final message" in outcome.message


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        pytest.param(OutputFormat.CODEX, b'{"type": "item.updated", "item": {}}\n', id="codex"),
        pytest.param(OutputFormat.CLAUDE, b'{"type": "stream_event"}\n', id="claude"),
        pytest.param(OutputFormat.TEXT, b"...", id="dots-without-a-line-end"),
    ],
)
async def test_output_that_is_not_shown_breaks_the_silence(output: OutputFormat, printed: bytes) -> None:
    seen: asyncio.Queue[AgentEvent] = asyncio.Queue()
    program = _Printing()
    work = asyncio.create_task(drive_command(program, None, parser_for(output), seen.put_nowait))
    program.stdout.feed_data(printed)
    assert isinstance(await seen.get(), AgentStirred)
    assert not work.done()
    program.stdout.feed_eof()
    program.ended.set()
    await work


async def test_200_megabytes_of_output_are_read_and_bounded(place: Path) -> None:
    listener = Listener()
    outcome = await agent_of(command_profile(output="text")).run(task_of(place, "floods"), listener)
    assert isinstance(outcome, AgentResult)
    assert len(outcome.output) <= 50_000
    assert sum(len(each.text) for each in listener.heard) <= 2_100_000
    assert "the rest is not shown" in listener.heard[-1].text


async def test_what_it_leaves_in_the_workspace_is_removed_and_what_was_there_stays(place: Path) -> None:
    (place / ".agent.conf").write_text("the project's own")
    profile = command_profile(leavings=[".agent.*"])
    await agent_of(profile).run(task_of(place, "leaves"), Listener())
    assert sorted(os.listdir(place)) == [".agent.conf", "done.txt"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        pytest.param("/nowhere/agent", "No such file", id="missing"),
        pytest.param(str(COMMAND), "Permission denied", id="not-executable"),
    ],
)
async def test_a_program_that_cannot_be_started_is_a_matter_of_configuration(
    place: Path, program: str, said: str
) -> None:
    agent = agent_of(command_profile())
    broken = type(agent)(
        agent.name,
        command_profile(),
        Installed(Path(program), place, (), (), None),
        agent.model,
        agent.gateway,
        agent.starter,
        agent.python_places,
    )
    outcome = await broken.run(task_of(place, "make it"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.CONFIGURATION
    assert said in outcome.message


def sleepers() -> list[str]:
    found: list[str] = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdigit() and b"1000.0815" in (each / "cmdline").read_bytes().split(b"\0"):
                found.append(each.name)
        except OSError:
            continue
    return found


async def test_confined_it_cannot_write_outside_and_what_forks_away_ends(
    place: Path, sandbox: Sandbox
) -> None:
    listener = Listener()
    agent = agent_of(command_profile(), sandbox=sandbox)
    outcome = await agent.run(task_of(place, "outside"), listener)
    assert isinstance(outcome, AgentResult), outcome
    assert listener.texts(ProgressKind.TEXT)[:2] == ["refused /usr/planted", "refused ../planted"]
    assert os.listdir(place.parent) == ["tree"]
    outcome = await agent.run(task_of(place, "forks"), Listener())
    assert isinstance(outcome, AgentResult), outcome
    await anyio.to_thread.run_sync(poll, lambda: not sleepers())


async def test_cancelling_ends_the_program_the_endpoint_and_the_home(
    place: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(work_module, "TERM_SECONDS", 0.1)
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(homes))
    gateway = FakeGateway()
    agent = agent_of(command_profile(), gateway, sandbox)
    work = asyncio.create_task(agent.run(task_of(place, "deaf"), Listener()))
    await anyio.to_thread.run_sync(poll, lambda: list(homes.glob("phaserunner-home-*")))
    work.cancel()
    await asyncio.wait([work])
    assert work.cancelled()
    assert gateway.open_now == 0
    assert os.listdir(homes) == []
