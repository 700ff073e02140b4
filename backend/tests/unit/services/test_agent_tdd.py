"""One piece of work for one or several agents."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.agents.candidate_trees import DirectoryTrees
from app.agents.models.judge import Contender, FirstContender, Judge, JudgeChoice
from app.agents.models.providers import ProviderKeys
from app.agents.port import Agent, AgentFailure, AgentOutcome, AgentTask, AgentUsage, FailureKind
from app.agents.provider import AgentProvider
from app.agents.scripted.agent import ScriptedAgent
from app.core.errors import InvalidInputError
from app.core.events.candidates import CandidateData
from app.core.events.envelope import EventData
from app.core.events.types import SprintEventType
from app.schemas.agent_script import AgentScript
from app.schemas.agent_tdd import AgentTddRunCreate, SubagentSpec
from app.schemas.agents import AgentSpec
from app.services.agent_tdd import AgentTddService, NoCandidateError
from app.services.execute.side_by_side import CandidateOutcome, SideBySide, Subagent
from app.workspaces.process import run_process
from tests.agent_fakes import PlainAgent
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio


class Team:
    """Gives out agents by their model's name; a failure stands for a missing key."""

    def __init__(self, **agents: Agent | AgentFailure) -> None:
        self._agents = agents

    def __call__(self, spec: AgentSpec) -> Agent | AgentFailure:
        if spec.script is not None:
            return ScriptedAgent(spec.script)
        return self._agents[spec.model.partition(":")[2] if spec.model else "default"]


class Chooser:
    """Chooses the last contender and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[Sequence[str]] = []

    async def choose(self, goal: str, candidates: Sequence[Contender]) -> JudgeChoice:
        self.shown += [each.changed_files for each in candidates]
        return JudgeChoice(candidates[-1].index, f"best for {goal}", 0.9, "test:judge")


class Heard:
    """Keeps events."""

    def __init__(self) -> None:
        self.events: list[tuple[str, EventData]] = []

    async def __call__(self, event: SprintEventType, data: EventData) -> None:
        self.events.append((event.value, data))

    def names(self) -> list[str]:
        return sorted(name for name, _ in self.events)


class Starting:
    """Lets nobody start before all are there."""

    def __init__(self, all_there: asyncio.Barrier) -> None:
        self._all_there = all_there

    async def __call__(self, event: SprintEventType, data: EventData) -> None:
        await self._all_there.wait()


def writes(text: str) -> Callable[[AgentTask], str]:
    def work(task: AgentTask) -> str:
        (task.workspace / "a.txt").write_text(text)
        return f"wrote {text}"

    return work


def crashes(task: AgentTask) -> AgentOutcome:
    raise RuntimeError("boom")


def is_down(task: AgentTask) -> AgentOutcome:
    return AgentFailure(FailureKind.UNAVAILABLE, "the provider is down", AgentUsage(requests=2))


NO_KEY = AgentFailure(FailureKind.CONFIGURATION, "No key for test:nokey: set TEST_KEY", model="test:nokey")


def service(team: Team, judge: Judge | None = None, scores: Sequence[float] = ()) -> AgentTddService:
    async def rank(task: AgentTask, candidates: Sequence[CandidateOutcome]) -> Sequence[float]:
        assert all((each.workspace / "a.txt").exists() for each in candidates)
        return scores or [1.0] * len(candidates)

    return AgentTddService(team, DirectoryTrees(), rank, lambda model: judge or FirstContender())


def request(workspace: Path, *models: str, **more: Any) -> AgentTddRunCreate:
    subagents = [{"name": name.title(), "provider": "test", "model": name} for name in models]
    return AgentTddRunCreate(message="Mend it", workspace_ref=str(workspace), subagents=subagents, **more)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "old.txt").write_text("old")
    return tmp_path


async def test_one_agent_works_in_place_and_needs_no_judge(workspace: Path) -> None:
    heard = Heard()
    given = AgentTddRunCreate(message="Mend it", workspace_ref=str(workspace), metadata={"ticket": 7})
    result = await service(Team(default=PlainAgent(writes("one")))).execute(given, "ada", on_event=heard)
    (candidate,) = result.candidates
    assert (candidate.agent_name, candidate.provider, candidate.output) == ("plain", "test", "wrote one")
    assert candidate.error is None
    assert candidate.metrics.requests == 1
    assert result.decision.candidate_id == candidate.id
    assert result.decision.model is None
    assert (result.user_id, result.metadata) == ("ada", {"ticket": 7})
    assert (workspace / "a.txt").read_text() == "one"
    assert heard.names() == ["candidate.generated", "candidate.started"]


async def test_several_work_at_the_same_time_each_in_a_tree_of_its_own(workspace: Path) -> None:
    together = asyncio.Barrier(2)
    team = Team(a=PlainAgent(writes("A"), together=together), b=PlainAgent(writes("B"), together=together))
    judge, heard = Chooser(), Heard()
    async with asyncio.timeout(PATIENCE):
        result = await service(team, judge).execute(request(workspace, "a", "b"), "ada", on_event=heard)
    assert [each.output for each in result.candidates] == ["wrote A", "wrote B"]
    decision = result.decision
    assert decision.candidate_id == result.candidates[1].id
    assert (decision.score, decision.rationale, decision.model) == (0.9, "best for Mend it", "test:judge")
    assert judge.shown == [("a.txt",), ("a.txt",)]
    assert (workspace / "a.txt").read_text() == "B"
    assert (workspace / "old.txt").read_text() == "old"
    assert heard.names() == ["candidate.generated"] * 2 + ["candidate.started"] * 2 + [
        "judge.decided",
        "judge.started",
    ]


async def test_gates_rank_before_any_judge(workspace: Path) -> None:
    team = Team(a=PlainAgent(writes("A")), b=PlainAgent(writes("B")), c=PlainAgent(writes("C")))
    judge, heard = Chooser(), Heard()
    result = await service(team, judge, (0.2, 0.8, 0.5)).execute(
        request(workspace, "a", "b", "c"), "ada", on_event=heard
    )
    assert result.decision.candidate_id == result.candidates[1].id
    assert (result.decision.score, result.decision.model) == (0.8, None)
    assert not judge.shown
    assert (workspace / "a.txt").read_text() == "B"


@pytest.mark.parametrize(
    "other", [PlainAgent(crashes), PlainAgent(is_down), NO_KEY], ids=["crash", "down", "no key"]
)
async def test_one_failure_does_not_fail_the_run(other: Agent | AgentFailure, workspace: Path) -> None:
    heard, judge = Heard(), Chooser()
    team = Team(a=other, b=PlainAgent(writes("B")))
    result = await service(team, judge).execute(request(workspace, "a", "b"), "ada", on_event=heard)
    assert result.candidates[0].error
    assert result.candidates[0].agent_name == "A"
    assert result.decision.candidate_id == result.candidates[1].id
    assert result.decision.rationale == "The only candidate that finished."
    assert not judge.shown
    assert (workspace / "a.txt").read_text() == "B"
    assert heard.names().count("candidate.failed") == 1


async def test_no_success_is_an_error_with_every_reason(workspace: Path) -> None:
    team = Team(a=PlainAgent(crashes), b=PlainAgent(is_down), c=NO_KEY)
    with pytest.raises(NoCandidateError) as failure:
        await service(team).execute(request(workspace, "a", "b", "c"), "ada")
    for reason in (
        "A: plain crashed: RuntimeError: boom",
        "B: the provider is down",
        "C: No key for test:nokey",
    ):
        assert reason in failure.value.detail
    assert os.listdir(workspace) == ["old.txt"]


async def test_a_workspace_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        await service(Team()).execute(request(tmp_path / "missing", "a"), "ada")
    assert refusal.value.field == "workspace_ref"


async def test_tool_calls_come_with_their_results(workspace: Path) -> None:
    edits = [
        {"kind": "write", "path": "a.txt", "content": "x"},
        {"kind": "write", "path": "b.txt", "content": "y"},
    ]
    script = {"title": "t", "phases": {"coding": [{"say": "Done", "edits": edits}]}}
    given = AgentTddRunCreate(
        message="m", workspace_ref=str(workspace), subagents=[{"provider": "scripted", "script": script}]
    )
    (candidate,) = (await service(Team()).execute(given, "ada")).candidates
    assert (candidate.agent_name, candidate.provider) == ("scripted (no model)", "scripted")
    assert [(each.tool, each.arguments, each.result) for each in candidate.tool_calls] == [
        ("write_file", "a.txt", "created a.txt"),
        ("write_file", "b.txt", "created b.txt"),
    ]


async def test_cancelling_ends_every_agent(workspace: Path) -> None:
    together, others = asyncio.Barrier(3), asyncio.Barrier(3)
    starting = Starting(others)
    team = Team(a=PlainAgent(writes("A"), together=together), b=PlainAgent(writes("B"), together=together))
    task = asyncio.create_task(service(team).execute(request(workspace, "a", "b"), "ada", on_event=starting))
    async with asyncio.timeout(PATIENCE):
        await others.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert os.listdir(workspace) == ["old.txt"]


async def test_producing_leaves_the_choice_to_the_caller(tmp_path: Path) -> None:
    trees = [tmp_path / "0", tmp_path / "1"]
    for tree in trees:
        tree.mkdir()
    task = AgentTask("coding", 3, "prompt", tmp_path)
    spec = AgentSpec(model="test:a", temperature=0.3, candidates=2)
    seen: list[AgentTask] = []

    def work(given: AgentTask) -> str:
        seen.append(given)
        return "done"

    production = await SideBySide(Team(a=PlainAgent(work))).run(task, [Subagent(spec)] * 2, trees)
    assert [each.index for each in production.succeeded] == [0, 1]
    assert production.chosen is None
    assert {each.workspace for each in seen} == set(trees)
    assert {(each.attempt, each.model, each.temperature) for each in seen} == {(3, "test:a", 0.3)}


SCRIPT = AgentScript.model_validate({"title": "t", "phases": {"coding": [{"say": "x"}]}})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"provider": "openai"}, "model"),
        ({"model": "gpt-5"}, "model"),
        ({"provider": "scripted"}, "script"),
        ({"provider": "openai", "model": "x", "script": SCRIPT}, "script"),
        ({"provider": "scripted", "model": "x", "script": SCRIPT}, "model"),
        ({"provider": "open ai", "model": "x"}, "model"),
    ],
)
def test_subagents_that_cannot_be_asked_are_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        SubagentSpec.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"message": ""}, "message"),
        ({"message": "a\0b"}, "message"),
        ({"workspace_ref": ""}, "workspace_ref"),
        ({"subagents": [{}] * 9}, "subagents"),
        ({"metadata": {"x": "y" * 30_000}}, "metadata"),
        ({"judge": {"model": "gpt"}}, "judge.model"),
        ({"subagent": []}, "subagent"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        AgentTddRunCreate.model_validate({"message": "m", "workspace_ref": "/w", **fields})


async def test_an_agent_that_is_not_ready_is_named_and_its_reason_is_said_once(tmp_path: Path) -> None:
    refused = AgentProvider(ProviderKeys(), run_process, Path("python"))
    team = Team(a=PlainAgent(writes("A")))

    def agents(spec: AgentSpec) -> Agent | AgentFailure:
        return team(spec) if spec.model else refused(spec)

    trees = [tmp_path / str(number) for number in range(3)]
    for each in trees:
        each.mkdir()
    task, missing = AgentTask("coding", 1, "do it", tmp_path), Subagent(AgentSpec())
    mixed, alone = Heard(), Heard()
    able = Subagent(AgentSpec(model="test:a"))
    await SideBySide(agents, on_event=mixed).run(task, [missing, able, missing], trees)
    await SideBySide(agents, on_event=alone).run(task, [missing, missing], trees[:2])
    first, second = (each for name, each in mixed.events if name == "candidate.failed")
    assert isinstance(first, CandidateData)
    assert isinstance(second, CandidateData)
    assert (first.agent, second.agent) == ("pydantic-ai", "pydantic-ai")
    assert "ANTHROPIC_API_KEY" in (first.error or "")
    assert second.error == "not ready, for the same reason as candidate 1"
    assert [str(data.model_dump()["error"]) for _, data in alone.events] == ["not ready"] * 2
