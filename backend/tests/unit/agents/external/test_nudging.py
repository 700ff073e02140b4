"""Agents that changed no file are asked once more, in the same conversation, before their attempt counts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.agents.external.agent import ExternalAgent
from app.agents.external.nudging import Nudger
from app.agents.external.profile import AgentProfile
from app.agents.gateway_port import GatewayFailure
from app.agents.nudges import NUDGE
from app.agents.port import AgentFailure, AgentOutcome, AgentResult, AgentTask, FailureKind
from tests.agent_fakes import Listener
from tests.unit.agents.external.support import (
    ACP_AGENT,
    Endpoint,
    FakeGateway,
    agent_of,
    command_profile,
    task_of,
)

pytestmark = pytest.mark.anyio

RESUMING = command_profile(resume=["scripted", "--resume", "{session}"])
SPEAKING = AgentProfile.model_validate({"driver": "acp", "argv": ["scripted"], "dialect": "openai-chat"})
BOTH = pytest.mark.parametrize("kind", ["command", "acp"])


def agent(kind: str, nudges: int = 1, gateway: FakeGateway | None = None) -> ExternalAgent:
    made = agent_of(RESUMING, gateway) if kind == "command" else agent_of(SPEAKING, gateway, script=ACP_AGENT)
    return replace(made, nudges=nudges)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    return place


@BOTH
async def test_one_that_changed_nothing_is_asked_again_and_its_work_is_the_result(
    kind: str, place: Path
) -> None:
    listener = Listener()
    outcome = await agent(kind).run(task_of(place, "idles"), listener)
    assert isinstance(outcome, AgentResult), outcome
    assert "done.txt" in os.listdir(place)
    # Its final message is that of the second turn, which tells how long its prompt was.
    assert outcome.output.removeprefix("Done: ").removesuffix(" characters") == str(len(NUDGE))


@dataclass
class Told:
    """An inbox that counts how often an agent has ended."""

    messages: list[str] = field(default_factory=list[str])
    asked: int = 0

    def of(self) -> "Told":
        return self

    async def take(self, *, at_end: bool) -> str | None:
        self.asked += at_end
        return self.messages.pop(0) if self.messages else None


async def turns(agent: ExternalAgent, task: AgentTask) -> tuple[AgentOutcome, int]:
    """The outcome, and how often the agent has ended."""
    inbox = task.inbox or Told()
    outcome = await agent.run(replace(task, inbox=inbox), Listener())
    assert isinstance(inbox, Told)
    return outcome, inbox.asked


@BOTH
@pytest.mark.parametrize(
    ("prompt", "fields", "nudges", "ends"),
    [
        pytest.param("make it", {}, 1, 1, id="changed a file"),
        pytest.param("idles", {}, 0, 1, id="is not to be asked"),
        pytest.param("idles", {"has_work": True}, 1, 1, id="earlier work is there"),
    ],
)
async def test_one_that_has_nothing_more_to_change_is_not_asked(
    kind: str, prompt: str, fields: dict[str, bool], nudges: int, ends: int, place: Path
) -> None:
    outcome, ended = await turns(agent(kind, nudges), task_of(place, prompt, **fields))
    assert isinstance(outcome, AgentResult), outcome
    assert ended == ends


@BOTH
async def test_a_phase_that_changes_no_files_is_left_alone(kind: str, place: Path) -> None:
    outcome, ended = await turns(agent(kind), replace(task_of(place, "idles"), phase="verification"))
    assert isinstance(outcome, AgentResult), outcome
    assert ended == 1


@BOTH
async def test_what_people_say_comes_first_and_takes_its_place_where_it_is_heeded(
    kind: str, place: Path
) -> None:
    outcome, ended = await turns(agent(kind), task_of(place, "idles", inbox=Told(["make it"])))
    assert isinstance(outcome, AgentResult), outcome
    assert str(len("make it")) in outcome.output
    assert ended == 2


@BOTH
async def test_one_whose_model_fails_is_not_asked_again(kind: str, place: Path) -> None:
    failure = GatewayFailure(FailureKind.UNAVAILABLE, "the provider is overloaded")
    _, ended = await turns(agent(kind, gateway=FakeGateway(Endpoint(told=failure))), task_of(place, "idles"))
    assert ended == 1
    assert os.listdir(place) == []


async def test_a_command_that_cannot_go_on_keeps_what_it_said(place: Path) -> None:
    outcome = await replace(agent_of(command_profile()), nudges=1).run(task_of(place, "idles"), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output == "I would divide by two."
    broken = agent_of(command_profile(resume=["scripted", "--resume", "another-{session}"]))
    outcome = await replace(broken, nudges=1).run(task_of(place, "idles"), Listener())
    assert isinstance(outcome, AgentResult), "its conversation is lost, and its attempt counts as it was"
    assert outcome.output == "I would divide by two."


async def test_one_that_dies_of_what_people_say_has_not_ended_well(place: Path) -> None:
    outcome, _ = await turns(agent("acp"), task_of(place, "idles", inbox=Told(["dies"])))
    assert isinstance(outcome, AgentFailure)
    assert (outcome.kind, "out of luck" in outcome.message) == (FailureKind.CRASH, True)


@pytest.mark.parametrize(
    ("leavings", "written", "asked"),
    [
        pytest.param((), "a.py", 0, id="a file"),
        pytest.param((), "deeper/a.py", 0, id="a file in a directory"),
        pytest.param((), "__pycache__/a.pyc", 2, id="a cache"),
        pytest.param((".agent*",), ".agent.log", 2, id="what the agent leaves"),
        pytest.param((".agent*",), ".agent/state/log", 2, id="what it leaves in a directory"),
        pytest.param((".agent*",), "agent.py", 0, id="a file beside what it leaves"),
    ],
)
async def test_what_counts_as_a_change(
    leavings: Sequence[str], written: str, asked: int, place: Path
) -> None:
    (place / "there.py").write_text("x = 1\n")
    nudger = Nudger(place, leavings, 2)
    await nudger.begin()
    (place / written).parent.mkdir(parents=True, exist_ok=True)
    (place / written).write_text("x = 2\n")
    said = [await nudger.take() for _ in range(3)]
    assert said == [NUDGE] * asked + [None] * (3 - asked)


async def test_a_removed_file_is_a_change(place: Path) -> None:
    (place / "there.py").write_text("x = 1\n")
    nudger = Nudger(place, (), 1)
    await nudger.begin()
    (place / "there.py").unlink()
    assert await nudger.take() is None
