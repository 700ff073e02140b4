"""The recorded agents play against the real prompts and the real evaluators, as in a sprint."""

import shutil
from pathlib import Path

import pytest

from app.agents.port import AgentResult, AgentTask
from app.agents.scripted.agent import ScriptedAgent
from app.agents.scripted.examples import Example, materialise_example
from app.runners.evaluators.issues import failure_fingerprint
from app.runners.evaluators.registry import EvaluatorConfig, create_default_registry
from app.runners.phase_runner import PhaseOutcome, PhaseRunner
from app.schemas.runs import EscalationReason, Phase, RunPolicy
from app.workspaces.process import run_process
from tests.agent_fakes import Listener
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio


class Sprint:
    """Runs the phases of an example in memory."""

    def __init__(self, example: Example, workspace: Path, base: Path) -> None:
        self._goal = example.goal
        self._agent = ScriptedAgent(example.load_script())
        self._workspace = workspace
        self._base = base
        self._runner = PhaseRunner(
            create_default_registry(
                EvaluatorConfig(lint_timeout=PATIENCE, type_check_timeout=PATIENCE, test_timeout=PATIENCE)
            )
        )

    async def run(self, phase: Phase) -> PhaseOutcome:
        """Run one phase to its end."""

        async def produce(prompt: str, attempt: int) -> str:
            outcome = await self._agent.run(AgentTask(phase, attempt, prompt, self._workspace), Listener())
            assert isinstance(outcome, AgentResult), outcome
            return outcome.output

        return await self._runner.run_phase_with_evaluation(
            phase,
            self._goal,
            produce,
            {"workspace_ref": str(self._workspace), "base_ref": str(self._base)},
            policy=RunPolicy(deterministic_only=True),
        )


async def prepare(name: str, tmp_path: Path) -> Sprint:
    workspace, base = tmp_path / "a workspace", tmp_path / "base"
    example = await materialise_example(name, workspace, run_process)
    shutil.rmtree(workspace / ".git")
    shutil.copytree(workspace, base)
    return Sprint(example, workspace, base)


async def test_the_first_script_mends_what_the_evaluators_say(tmp_path: Path) -> None:
    sprint = await prepare("teatime", tmp_path)
    attempts: list[int] = []
    for phase in Phase:
        outcome = await sprint.run(phase)
        assert outcome.passed, outcome.verdict
        attempts.append(len(outcome.memory.attempts))
        if phase is Phase.CODING:
            first = outcome.memory.attempts[0]
            failed = {each.evaluator_name for each in first.evaluation_results if not each.passed}
            assert failed == {"ruff_lint", "pytest"}
    assert attempts == [1, 2, 1]


async def test_the_second_script_ends_with_a_human(tmp_path: Path) -> None:
    sprint = await prepare("teatime-escalation", tmp_path)
    assert (await sprint.run(Phase.DISCOVERY)).passed
    outcome = await sprint.run(Phase.CODING)
    assert outcome.escalation is EscalationReason.ATTEMPTS_EXHAUSTED
    fingerprints = {failure_fingerprint(each.evaluation_results) for each in outcome.memory.attempts}
    assert len(fingerprints) == 3
