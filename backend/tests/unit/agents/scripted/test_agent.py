"""The agent without a model."""

import os
from pathlib import Path
from typing import Any

import pytest

from app.agents.port import (
    AgentFailure,
    AgentLimits,
    AgentOutcome,
    AgentResult,
    AgentTask,
    FailureKind,
    ProgressKind,
)
from app.agents.scripted.agent import ScriptedAgent
from app.schemas.agent_script import AgentScript
from tests.agent_fakes import Listener

pytestmark = pytest.mark.anyio


def script(*steps: dict[str, Any]) -> ScriptedAgent:
    return ScriptedAgent(AgentScript.model_validate({"title": "Demo", "phases": {"coding": list(steps)}}))


async def play(
    agent: ScriptedAgent,
    workspace: Path,
    *,
    phase: str = "coding",
    attempt: int = 1,
    prompt: str = "",
    seconds: float = 30.0,
) -> tuple[AgentOutcome, Listener]:
    listener = Listener()
    task = AgentTask(phase, attempt, prompt, workspace, AgentLimits(seconds=seconds))
    return await agent.run(task, listener), listener


def test_it_says_that_it_is_a_script() -> None:
    agent = script({"say": "x"})
    assert (agent.name, agent.provider, agent.model) == ("scripted (no model)", "scripted", None)


async def test_plays_its_edits_in_order_and_reports_them(tmp_path: Path) -> None:
    agent = script(
        {
            "say": "Coding Complete",
            "progress": ["Looking around."],
            "edits": [
                {"kind": "write", "path": "src/a.py", "content": "x = 1\n"},
                {"kind": "replace", "path": "src/a.py", "old": "1", "new": "2"},
                {"kind": "write", "path": "b.py", "content": ""},
                {"kind": "delete", "path": "b.py"},
            ],
        }
    )
    outcome, listener = await play(agent, tmp_path)
    assert isinstance(outcome, AgentResult)
    assert outcome.output == "Coding Complete"
    assert (outcome.usage.tool_calls, outcome.usage.total_tokens, outcome.usage.cost_usd) == (4, 0, 0.0)
    assert (tmp_path / "src/a.py").read_text() == "x = 2\n"
    assert not (tmp_path / "b.py").exists()
    assert [each.tool for each in listener.heard if each.kind is ProgressKind.TOOL_CALL] == [
        "write_file",
        "edit_file",
        "write_file",
        "delete_file",
    ]
    assert listener.texts(ProgressKind.TOOL_RESULT)[0] == "created src/a.py"
    assert listener.texts(ProgressKind.TEXT) == ["Looking around.", "Coding Complete"]


async def test_a_step_that_was_not_told_does_not_play(tmp_path: Path) -> None:
    step = {
        "say": "x",
        "expects": ["F401", "test_a"],
        "edits": [{"kind": "write", "path": "a", "content": ""}],
    }
    outcome, listener = await play(script(step), tmp_path, prompt="mend test_a")
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.CONFIGURATION
    assert "'F401'" in outcome.message
    assert "'test_a'" not in outcome.message
    assert not listener.heard
    assert not os.listdir(tmp_path)
    told, _ = await play(script(step), tmp_path, prompt="mend test_a and F401")
    assert isinstance(told, AgentResult)


async def test_a_phase_it_knows_nothing_of_needs_a_human(tmp_path: Path) -> None:
    outcome, _ = await play(script({"say": "x"}), tmp_path, phase="verification")
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.CONFIGURATION
    assert "verification" in outcome.message


async def test_an_edit_that_does_not_fit_names_itself(tmp_path: Path) -> None:
    edits = [
        {"kind": "write", "path": "a", "content": "x"},
        {"kind": "replace", "path": "a", "old": "y", "new": "z"},
    ]
    outcome, listener = await play(script({"say": "x", "edits": edits}), tmp_path)
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.CONFIGURATION
    assert "edit 2" in outcome.message
    assert "0 times" in outcome.message
    assert outcome.usage.tool_calls == 1
    assert len(listener.texts(ProgressKind.TOOL_RESULT)) == 2


async def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    edits = [{"kind": "write", "path": "link/a", "content": "x"}]
    outcome, _ = await play(script({"say": "x", "edits": edits}), workspace)
    assert isinstance(outcome, AgentFailure)
    assert not os.listdir(outside)


async def test_the_time_limit_holds(tmp_path: Path) -> None:
    edits = [{"kind": "write", "path": "a", "content": "x", "pause_seconds": 5.0}]
    outcome, _ = await play(script({"say": "x", "edits": edits}), tmp_path, seconds=0.01)
    assert isinstance(outcome, AgentFailure)
    assert outcome.kind is FailureKind.LIMIT
    assert not (tmp_path / "a").exists()
