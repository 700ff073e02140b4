"""Agents that speak the Agent Client Protocol: a small one built on its SDK, and how it goes wrong."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import anyio.to_thread
import pytest

from app.agents.external import at_work as work_module
from app.agents.external.agent import ExternalAgent
from app.agents.external.profile import AgentProfile
from app.agents.gateway_port import GatewayFailure
from app.agents.port import AgentFailure, AgentResult, FailureKind, ProgressKind
from tests.agent_fakes import Listener
from tests.unit.agents.external.support import ACP_AGENT, Endpoint, FakeGateway, agent_of, task_of
from tests.unit.workspaces.test_process import poll

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    return place


def acp_agent(gateway: FakeGateway | None = None, **fields: object) -> ExternalAgent:
    usual = {"driver": "acp", "argv": ["scripted"], "dialect": "openai-chat"}
    return agent_of(AgentProfile.model_validate(usual | fields), gateway, script=ACP_AGENT)


async def test_a_prompt_becomes_progress_and_a_result(place: Path) -> None:
    listener = Listener()
    outcome = await acp_agent(mode="yolo", auth="key").run(task_of(place, "make it"), listener)
    assert isinstance(outcome, AgentResult), outcome
    assert (outcome.output, outcome.usage.tool_calls) == ("Done: 7", 1)
    assert (place / "done.txt").read_text() == "yolo selected whatever"
    assert listener.texts(ProgressKind.TEXT) == ["I look", "and see.", "Done: 7"]
    assert [each.text for each in listener.heard if each.tool == "edit"] == ["path='done.txt'", "written"]


async def test_many_edits_whose_arguments_follow_are_no_circle(place: Path) -> None:
    listener = Listener()
    outcome = await acp_agent().run(task_of(place, "edits"), listener)
    assert isinstance(outcome, AgentResult), outcome
    assert (place / "done.txt").read_text() == "19"
    calls = listener.texts(ProgressKind.TOOL_CALL)
    assert len(calls) == 20
    assert all(each.startswith("path='done.txt', old='xxx") for each in calls)


async def test_a_prompt_of_a_megabyte_arrives(place: Path) -> None:
    outcome = await acp_agent().run(task_of(place, "w" * 1_000_000), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output == "Done: 1000000"


@pytest.mark.parametrize(
    ("prompt", "fields", "kind", "said"),
    [
        pytest.param("dies", {}, FailureKind.CRASH, "status 4: out of luck", id="dies"),
        pytest.param("error", {}, FailureKind.PROTOCOL, "the model is gone", id="error-of-the-turn"),
        pytest.param("exhausted", {}, FailureKind.LIMIT, "max_turn_requests", id="its-own-limit"),
        pytest.param(
            "work", {"auth": "vendor-login"}, FailureKind.CONFIGURATION, "needs a login", id="needs-a-login"
        ),
    ],
)
async def test_what_goes_wrong_has_a_reason(
    place: Path, prompt: str, fields: dict[str, object], kind: FailureKind, said: str
) -> None:
    outcome = await acp_agent(**fields).run(task_of(place, prompt), Listener())
    assert isinstance(outcome, AgentFailure), outcome
    assert outcome.kind is kind
    assert said in outcome.message
    assert os.listdir(place) == []


async def test_an_agent_that_does_not_start_names_the_setting(place: Path) -> None:
    task = task_of(place, "work")
    slow = replace(task, limits=replace(task.limits, start_seconds=0.2))
    outcome = await acp_agent(auth="never-answers").run(slow, Listener())
    assert isinstance(outcome, AgentFailure), outcome
    assert outcome.kind is FailureKind.PROTOCOL
    assert "it did not answer within 0.2 s (AGENT_START_SECONDS)" in outcome.message


async def test_what_the_gateway_saw_explains_an_error(place: Path) -> None:
    gateway = FakeGateway(Endpoint(told=GatewayFailure(FailureKind.UNAVAILABLE, "overloaded")))
    outcome = await acp_agent(gateway).run(task_of(place, "error"), Listener())
    assert isinstance(outcome, AgentFailure)
    assert (outcome.kind, outcome.message) == (FailureKind.UNAVAILABLE, "overloaded")


async def test_it_is_told_that_it_is_cancelled(place: Path) -> None:
    work = asyncio.create_task(acp_agent().run(task_of(place, "waits"), Listener()))
    await anyio.to_thread.run_sync(poll, lambda: (place / "begun").exists())
    work.cancel()
    await asyncio.wait([work])
    assert work.cancelled()
    assert (place / "cancelled").exists()


async def test_cancelling_ends_one_that_ignores_everything(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_module, "TERM_SECONDS", 0.1)
    gateway = FakeGateway()
    work = asyncio.create_task(acp_agent(gateway).run(task_of(place, "deaf"), Listener()))
    await anyio.to_thread.run_sync(poll, lambda: (place / "begun").exists())
    work.cancel()
    await asyncio.wait([work])
    assert work.cancelled()
    assert gateway.open_now == 0
