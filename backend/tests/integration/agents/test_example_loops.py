"""The example loops run without a model: their scripts, evaluators and subtasks are real."""

import os
import sys
import tomllib
from pathlib import Path

import pytest

from app.runners.director_evaluator import DirectorEvaluator
from app.runners.evaluators.commands.programs import find_programs
from app.runners.evaluators.registry import EvaluatorConfig, create_default_registry
from app.runners.loop.files import WorkspaceContext
from app.runners.loop.panel import EvaluatorOrPanel, PanelJudge
from app.runners.loop.script import SandboxedScript
from app.runners.loop.scripted import ScriptedRoleAgent
from app.runners.project import ProjectRules, panel_for, read_from_tree
from app.schemas.agent_script import AgentScript, ScriptedRole
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import LoopEnd, LoopResult
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

LOOPS = Path(__file__).parents[4] / "examples" / "loops"
SEARCH = [Path(each) for each in os.environ["PATH"].split(os.pathsep) if each]
RULES = ProjectRules(programs=find_programs(Path(sys.executable), SEARCH))


async def play(name: str) -> LoopResult:
    place = LOOPS / name
    definition = DirectorEvaluatorLoop.from_xml((place / "task.xml").read_bytes())
    script = AgentScript.model_validate(tomllib.loads((place / "script.toml").read_text()))
    workspace = place / "workspace" if (place / "workspace").is_dir() else None
    registry = create_default_registry(
        EvaluatorConfig(model=None, lint_timeout=PATIENCE, type_check_timeout=PATIENCE, test_timeout=PATIENCE)
    )
    content = read_from_tree(workspace) if workspace else None
    door = DirectorEvaluator(
        director=ScriptedRoleAgent(script, ScriptedRole.DIRECTOR),
        evaluator=EvaluatorOrPanel(
            agent=ScriptedRoleAgent(script, ScriptedRole.EVALUATOR),
            panel=PanelJudge(panel=panel_for(registry, content, RULES), workspace=workspace),
        ),
        script=SandboxedScript(sandbox=Sandbox(), workspace=workspace),
        files=WorkspaceContext(workspace=workspace) if workspace else None,
    )
    return await door.run(definition)


async def test_a_min_stack_is_refined_until_its_tests_pass() -> None:
    result = await play("min-stack")
    assert (result.ended_by, result.error, result.iterations_completed) == (LoopEnd.SUCCESS, None, 3)
    exits = [each.script_output.exit_code for each in result.iteration_history if each.script_output]
    assert exits == [1, 1, 0]
    assert result.iteration_history[-1].condition_met is True
    assert [each.path for each in result.iteration_history[0].files] == ["test_min_stack.py"]


async def test_a_text_is_refined_against_a_registered_evaluator() -> None:
    result = await play("house-style")
    assert (result.ended_by, result.error, result.iterations_completed) == (LoopEnd.SUCCESS, None, 3)
    feedback = [each.evaluation.feedback for each in result.iteration_history if each.evaluation]
    assert "the first line is not the version as a heading" in feedback[0]
    assert "'very' says nothing" in feedback[1]


async def test_a_director_asks_for_a_subtask() -> None:
    result = await play("bridge")
    assert (result.ended_by, result.error, result.iterations_completed) == (LoopEnd.SUCCESS, None, 1)
    (exchange,) = result.iteration_history[0].exchanges
    assert exchange.result is not None
    assert exchange.result.content.startswith("45 kN")
    assert "carry 45 kN" in result.final_output


@pytest.mark.parametrize("name", sorted(each.name for each in LOOPS.iterdir() if each.is_dir()))
def test_every_example_says_that_it_is_recorded(name: str) -> None:
    assert "in place of" in (LOOPS / name / "script.toml").read_text()
