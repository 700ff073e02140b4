"""Conversations that go on: in the next attempt, and with what people say."""

import asyncio
import fcntl
import json
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from app.agents.external.agent import ExternalAgent
from app.agents.external.profile import AgentProfile
from app.agents.port import (
    AgentFailure,
    AgentLimits,
    AgentResult,
    AgentUsage,
    FailureKind,
    SessionPlace,
    SessionUse,
)
from app.agents.stuck import StuckLimits
from app.workspaces.confine.agent_programs import AgentPrograms
from app.workspaces.confine.running import LaunchedProgram
from tests.agent_fakes import Listener
from tests.patience import PATIENCE
from tests.unit.agents.external.support import (
    ACP_AGENT,
    Endpoint,
    FakeGateway,
    agent_of,
    command_profile,
    task_of,
    unconfined,
)

pytestmark = pytest.mark.anyio


@dataclass
class Told:
    """An inbox with messages for the end."""

    messages: list[str] = field(default_factory=list[str])

    def of(self) -> "Told":
        return self

    async def take(self, *, at_end: bool) -> str | None:
        return self.messages.pop(0) if at_end and self.messages else None


@pytest.fixture
def place(tmp_path: Path) -> SessionPlace:
    return SessionPlace(tmp_path / "sessions", "coding")


def tree(tmp_path: Path, name: str) -> Path:
    """A tree of an attempt."""
    made = tmp_path / name
    made.mkdir()
    return made


RESUMING = command_profile(resume=["scripted", "--resume", "{session}"])
SPEAKING = AgentProfile.model_validate({"driver": "acp", "argv": ["scripted"], "dialect": "openai-chat"})
BOTH = pytest.mark.parametrize(
    "agent",
    [
        pytest.param(agent_of(RESUMING), id="command"),
        pytest.param(agent_of(SPEAKING, script=ACP_AGENT), id="acp"),
    ],
)


@BOTH
async def test_the_next_attempt_goes_on_in_the_same_place(
    agent: ExternalAgent, place: SessionPlace, tmp_path: Path
) -> None:
    outcomes: list[AgentResult] = []
    for name in ("one", "two"):
        there, listener = tree(tmp_path, name), Listener()
        outcome = await agent.run(task_of(there, f"remember {name}", session=place), listener)
        assert isinstance(outcome, AgentResult), outcome
        assert there.is_dir(), "the tree is back where it was"
        assert "said before" not in [each.text for each in listener.heard]
        outcomes.append(outcome)
    first, second = outcomes
    assert (first.session, second.session) == (SessionUse(), SessionUse(continued=True))
    assert first.output.split(" ")[0] == second.output.split(" ")[0], "agents look for it by the directory"
    assert second.output.endswith(" remember one|remember two|")


@BOTH
async def test_a_lost_conversation_begins_anew_and_says_so(
    agent: ExternalAgent, place: SessionPlace, tmp_path: Path
) -> None:
    gateway = FakeGateway(Endpoint(metered=AgentUsage(requests=0)))
    agent = replace(agent, gateway=gateway)
    directory = place.directory / "0"
    directory.mkdir(parents=True)
    note = {"agent": agent.name, "subject": "coding", "session": "session-1"}
    (directory / "session.json").write_text(json.dumps(note))
    (directory / "home").mkdir()
    outcome = await agent.run(task_of(tree(tmp_path, "one"), "remember", session=place), Listener())
    # No request was metered, so it counts as no work; what matters is that it was launched anew.
    assert isinstance(outcome, AgentFailure)
    assert "without asking a model" in outcome.message
    assert not outcome.session.continued
    assert outcome.session.note.startswith("the earlier conversation could not go on: ")
    assert (directory / "home" / "conversation").read_text() == "remember|"


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param({"agent": "another", "subject": "coding", "session": "s"}, id="of another agent"),
        pytest.param(
            {"agent": "scripted-command", "subject": "discovery", "session": "s"}, id="of another phase"
        ),
        pytest.param("no object", id="broken"),
    ],
)
async def test_another_conversation_is_not_continued(
    kept: object, place: SessionPlace, tmp_path: Path
) -> None:
    home = place.directory / "0" / "home"
    home.mkdir(parents=True)
    (home / "conversation").write_text("secret|")
    (home.parent / "session.json").write_text(json.dumps(kept))
    outcome = await agent_of(RESUMING).run(
        task_of(tree(tmp_path, "one"), "remember", session=place), Listener()
    )
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output.endswith(" remember|")


class FullDisk(AgentPrograms):
    """Starts programs when the disk is full for the notes of a conversation."""

    @asynccontextmanager
    async def start(self, argv: Sequence[str], *, cwd: Path, **more: Any) -> AsyncGenerator[LaunchedProgram]:
        """Start a program, with `/dev/full` in the place of the notes."""
        for name in ("session.json", "under-way.json"):
            for note in (cwd.parent / name, cwd.parent / f"{name}.new"):
                note.unlink(missing_ok=True)
                note.symlink_to("/dev/full")
        async with super().start(argv, cwd=cwd, **more) as program:
            yield program


@BOTH
async def test_work_counts_if_its_conversation_cannot_be_noted(
    agent: ExternalAgent, place: SessionPlace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unlucky = replace(agent, starter=FullDisk(unconfined()))
    there = tree(tmp_path, "one")
    outcome = await unlucky.run(task_of(there, "remember one", session=place), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output.endswith(" remember one|")
    assert there.is_dir()
    kept = {each.name for each in (place.directory / "0").iterdir()}
    assert kept == {"home", "lock"}, "no part of a note is left"
    said = [each.getMessage() for each in caplog.records if each.name == "app.agents.external.session"]
    assert len(said) == 2, "at the beginning of the conversation and at its end"
    for each in said:
        assert each.startswith(
            f"the conversation of scripted-command in {place.directory / '0'} cannot be noted"
        )
        assert "No space left on device" in each
    second = replace(task_of(tree(tmp_path, "two"), "remember two", session=place), attempt=2)
    outcome = await agent.run(second, Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse(note="the attempt before left no conversation here")


async def test_a_note_is_replaced_as_a_whole(place: SessionPlace, tmp_path: Path) -> None:
    agent, note = agent_of(RESUMING), place.directory / "0" / "session.json"
    await agent.run(task_of(tree(tmp_path, "one"), "remember one", session=place), Listener())
    with note.open() as before:
        await agent.run(task_of(tree(tmp_path, "two"), "remember two", session=place), Listener())
        assert not os.path.samestat(os.fstat(before.fileno()), note.stat())


FAILING = pytest.mark.parametrize(
    ("agent", "fails", "reason"),
    [
        pytest.param(agent_of(RESUMING), "failed", "scripted-command failed: no luck", id="command"),
        pytest.param(agent_of(SPEAKING, script=ACP_AGENT), "dies", "scripted-command ", id="acp"),
    ],
)


@FAILING
async def test_after_a_failed_attempt_the_next_says_why_it_begins_anew(
    agent: ExternalAgent, fails: str, reason: str, place: SessionPlace, tmp_path: Path
) -> None:
    outcome = await agent.run(task_of(tree(tmp_path, "one"), fails, session=place), Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.session == SessionUse()
    second = replace(task_of(tree(tmp_path, "two"), "remember two", session=place), attempt=2)
    outcome = await agent.run(second, Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert not outcome.session.continued
    assert outcome.session.note.startswith(f"the attempt before left no conversation: {reason}")
    third = replace(task_of(tree(tmp_path, "three"), "remember three", session=place), attempt=3)
    outcome = await agent.run(third, Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse(continued=True), "what ended well is gone on with again"


@FAILING
async def test_a_failed_attempt_that_went_on_says_so(
    agent: ExternalAgent, fails: str, reason: str, place: SessionPlace, tmp_path: Path
) -> None:
    await agent.run(task_of(tree(tmp_path, "one"), "remember one", session=place), Listener())
    second = replace(task_of(tree(tmp_path, "two"), fails, session=place), attempt=2)
    outcome = await agent.run(second, Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.message.startswith(reason)
    assert outcome.session == SessionUse(continued=True)


async def test_a_later_attempt_on_another_machine_says_that_nothing_is_here(
    place: SessionPlace, tmp_path: Path
) -> None:
    second = replace(task_of(tree(tmp_path, "two"), "w", session=place), attempt=2)
    outcome = await agent_of(RESUMING).run(second, Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse(note="the attempt before left no conversation here")


async def test_a_place_in_use_is_left_alone(place: SessionPlace, tmp_path: Path) -> None:
    directory = place.directory / "0"
    directory.mkdir(parents=True)
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = await agent_of(RESUMING).run(task_of(tree(tmp_path, "one"), "w", session=place), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session.note.startswith("the conversation cannot be kept: ")


async def test_an_agent_without_conversations_says_so(place: SessionPlace, tmp_path: Path) -> None:
    outcome = await agent_of(command_profile()).run(
        task_of(tree(tmp_path, "one"), "w", session=place), Listener()
    )
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse(note="scripted-command cannot go on with a conversation")


@pytest.fixture
def interrupted(place: SessionPlace) -> SessionPlace:
    return replace(place, start="a-commit", continues=False, interrupted=True)


LEAVING = {"leavings": [".agent.log"]}
COMMAND = agent_of(RESUMING.model_copy(update=LEAVING))
SPEAKER = agent_of(SPEAKING.model_copy(update=LEAVING), script=ACP_AGENT)


async def interrupt(place: SessionPlace, tmp_path: Path, agent: ExternalAgent = COMMAND) -> Path:
    """Cancel the agent in the middle of its work; return the tree that it was given."""
    there, begun = tree(tmp_path, "one"), place.directory / "0" / "workspace" / "begun"
    first = replace(place, interrupted=False)
    work = asyncio.create_task(agent.run(task_of(there, "pauses", session=first), Listener()))
    while not begun.exists():
        assert not work.done(), work.result()
        await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.wait([work])
    return there


@pytest.mark.parametrize("agent", [pytest.param(COMMAND, id="command"), pytest.param(SPEAKER, id="acp")])
async def test_an_interrupted_try_goes_on_in_its_conversation_and_its_tree(
    agent: ExternalAgent, interrupted: SessionPlace, tmp_path: Path
) -> None:
    given = await interrupt(interrupted, tmp_path, agent)
    assert given.is_dir(), "its owner removes it"
    there = tree(tmp_path, "two")
    outcome = await agent.run(task_of(there, "work", session=interrupted), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse(continued=True)
    assert (there / "half-done.txt").is_file(), "the work before the interruption is kept"
    assert not (there / ".agent.log").exists(), "what the agent leaves beside its work is not"
    assert not (interrupted.directory / "0" / "home").exists(), "nothing is kept of what has ended"
    assert not (interrupted.directory / "0" / "workspace").exists()


async def test_the_prompt_says_that_the_work_was_interrupted(
    interrupted: SessionPlace, tmp_path: Path
) -> None:
    await interrupt(interrupted, tmp_path)
    there = tree(tmp_path, "two")
    outcome = await COMMAND.run(task_of(there, "work", session=interrupted), Listener())
    assert isinstance(outcome, AgentResult), outcome
    whole = len(
        "Your work was interrupted. What was changed so far is in the workspace. Continue from there."
    )
    assert outcome.output == f"{whole + len('work') + 2} characters"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"subject": "coding/2"}, id="another attempt"),
        pytest.param({"start": "another-commit"}, id="another tree"),
    ],
)
async def test_what_was_interrupted_is_not_taken_up_for_another_task(
    other: dict[str, str], interrupted: SessionPlace, tmp_path: Path
) -> None:
    await interrupt(interrupted, tmp_path)
    there = tree(tmp_path, "two")
    session = replace(interrupted, interrupted=False, **other)  # type: ignore[arg-type]
    outcome = await COMMAND.run(task_of(there, "remember this", session=session), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse()
    assert outcome.output.endswith(" remember this|")
    assert not (there / "half-done.txt").exists()


async def test_a_lost_conversation_of_an_interrupted_try_is_said(
    interrupted: SessionPlace, tmp_path: Path
) -> None:
    outcome = await COMMAND.run(
        task_of(tree(tmp_path, "two"), "remember this", session=interrupted), Listener()
    )
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse(note="the conversation of the interrupted try was not kept here")


async def test_a_fresh_try_keeps_nothing(place: SessionPlace, tmp_path: Path) -> None:
    fresh = replace(place, continues=False)
    for name in ("one", "two"):
        outcome = await COMMAND.run(
            task_of(tree(tmp_path, name), f"remember {name}", session=fresh), Listener()
        )
        assert isinstance(outcome, AgentResult), outcome
        assert outcome.session == SessionUse()
        assert outcome.output.endswith(f" remember {name}|")


async def test_an_agent_without_conversations_says_nothing_of_a_fresh_try(
    place: SessionPlace, tmp_path: Path
) -> None:
    outcome = await agent_of(command_profile()).run(
        task_of(tree(tmp_path, "one"), "w", session=replace(place, continues=False)), Listener()
    )
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.session == SessionUse()


@BOTH
async def test_what_people_say_is_a_further_prompt(agent: ExternalAgent, tmp_path: Path) -> None:
    inbox = Told(["remember this", "remember that"])
    outcome = await agent.run(task_of(tree(tmp_path, "one"), "remember", inbox=inbox), Listener())
    assert isinstance(outcome, AgentResult), outcome
    assert outcome.output.endswith(" remember|remember this|remember that|")


async def test_an_agent_that_cannot_go_on_leaves_messages_for_later(tmp_path: Path) -> None:
    inbox = Told(["for later"])
    await agent_of(command_profile()).run(task_of(tree(tmp_path, "one"), "w", inbox=inbox), Listener())
    assert inbox.messages == ["for later"]


async def test_one_that_goes_round_in_circles_is_ended(tmp_path: Path) -> None:
    limits = AgentLimits(seconds=PATIENCE, stuck=StuckLimits(same_calls=5))
    task = replace(task_of(tree(tmp_path, "one"), "circles"), limits=limits)
    outcome = await agent_of(command_profile()).run(task, Listener())
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.LIMIT
    assert outcome.message.startswith(
        "scripted-command is stuck: it called command (echo > done.txt) 5 times"
    )
    assert outcome.usage.requests == 1, "what it used counts"
