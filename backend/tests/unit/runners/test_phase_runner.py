"""Sprint phases as a library: prompts, evaluation, and the loop of one phase in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.core.errors import ConflictError
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
    errored,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.verdict import VerdictStatus
from app.runners.phase_runner import PhaseRunner
from app.runners.prompts.phase import prompt_for
from app.schemas.held_out import HeldOutKind
from app.schemas.runs import Budget, EscalationReason, Phase, RunPolicy

pytestmark = pytest.mark.anyio

Judge = Callable[["FakeEvaluator", str], EvaluationResult]


@dataclass
class FakeEvaluator:
    """An evaluator that judges by a function of the output."""

    judge: Judge
    name: str = "words"
    is_deterministic: bool = True
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    version: str = "7"
    seen: list[EvaluationContext] = field(default_factory=list)

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        self.seen.append(context)
        return self.judge(self, output)


def verdict(evaluator: FakeEvaluator, passed: bool, feedback: str = "say more") -> EvaluationResult:
    return EvaluationResult(
        evaluator_name=evaluator.name,
        category=evaluator.category,
        passed=passed,
        score=1.0 if passed else 0.2,
        feedback=feedback,
        suggestions=[] if passed else [f"mend {feedback}"],
    )


def wants(word: str) -> Judge:
    return lambda evaluator, output: verdict(evaluator, word in output, f"{word} is missing")


def crashes(evaluator: FakeEvaluator, output: str) -> EvaluationResult:
    raise RuntimeError("no verdict today")


def runner_with(*evaluators: FakeEvaluator, advisers: tuple[FakeEvaluator, ...] = ()) -> PhaseRunner:
    registry = EvaluatorRegistry()
    for each in evaluators:
        registry.register(each)
    for each in advisers:
        registry.register(each, gate=False)
    return PhaseRunner(registry)


class Agent:
    """Says its lines one after the other, the last one for ever, and keeps its prompts."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines
        self.prompts: list[str] = []

    async def __call__(self, prompt: str, number: int) -> str:
        self.prompts.append(prompt)
        assert number == len(self.prompts)
        return self._lines[min(number, len(self._lines)) - 1]


async def test_a_phase_learns_from_what_failed() -> None:
    agent = Agent("nothing", "nothing yet", "tea")
    gate = FakeEvaluator(wants("tea"))
    outcome = await runner_with(gate).run_phase_with_evaluation(Phase.CODING, "Make tea.", agent, {})
    assert outcome.passed
    assert [each.passed for each in outcome.memory.attempts] == [False, False, True]
    first, second, third = agent.prompts
    assert "FIX:" not in first
    assert "1. FIX: tea is missing\n   - mend tea is missing" in second
    assert "attempt 2 of 3" in second
    assert "FINAL attempt" in third
    assert "came up in more than one attempt" in third
    assert [each["attempt"] for each in gate.seen] == [1, 2, 3]


async def test_after_the_last_attempt_a_human_is_asked() -> None:
    outcome = await runner_with(FakeEvaluator(wants("tea"))).run_phase_with_evaluation(
        Phase.CODING, "Make tea.", Agent("a", "b", "c"), {}, policy=RunPolicy(max_attempts=3)
    )
    assert not outcome.passed
    assert outcome.escalation is EscalationReason.ATTEMPTS_EXHAUSTED
    assert outcome.memory.escalated
    assert len(outcome.memory.attempts) == 3


async def test_a_crashed_gate_never_passes_and_burns_no_attempt() -> None:
    agent = Agent("tea")
    outcome = await runner_with(
        FakeEvaluator(wants("tea")), FakeEvaluator(crashes, "broken")
    ).run_phase_with_evaluation(Phase.CODING, "Make tea.", agent, {})
    assert outcome.escalation is EscalationReason.EVALUATOR_UNAVAILABLE
    assert outcome.verdict is not None
    assert outcome.verdict.status is VerdictStatus.ERRORED
    assert outcome.memory.attempts == []
    assert len(agent.prompts) == 1, "the recorded output is judged again; the agent is not run again"


async def test_advisers_do_not_decide() -> None:
    unhappy = FakeEvaluator(wants("cake"), "taste")
    broken = FakeEvaluator(crashes, "broken")
    outcome = await runner_with(
        FakeEvaluator(wants("tea")), advisers=(unhappy, broken)
    ).run_phase_with_evaluation(Phase.CODING, "Make tea.", Agent("tea"), {})
    assert outcome.passed


async def test_a_phase_without_any_gate_that_checks_does_not_pass() -> None:
    outcome = await runner_with(advisers=(FakeEvaluator(wants("tea")),)).run_phase_with_evaluation(
        Phase.CODING, "Make tea.", Agent("tea"), {}
    )
    assert outcome.escalation is EscalationReason.EVALUATOR_UNAVAILABLE


async def test_every_evaluator_is_in_the_results() -> None:
    runner = runner_with(FakeEvaluator(wants("tea")), FakeEvaluator(crashes, "broken"))
    results = await runner.evaluate_phase_output("coding", "tea", {})
    assert [(each.evaluator_name, each.status) for each in results] == [
        ("words", EvaluationStatus.PASSED),
        ("broken", EvaluationStatus.ERRORED),
    ]
    assert "no verdict today" in results[1].feedback
    assert results[0].evaluator_version == "7"


async def test_models_are_not_asked_while_a_gate_fails() -> None:
    model = FakeEvaluator(wants("tea"), "model", is_deterministic=False)
    runner = runner_with(FakeEvaluator(wants("tea")), advisers=(model,))
    await runner.evaluate_phase_output("coding", "nothing", {})
    assert model.seen == []
    await runner.evaluate_phase_output("coding", "tea", {}, deterministic_only=True)
    assert model.seen == []
    await runner.evaluate_phase_output("coding", "tea", {})
    assert len(model.seen) == 1


BASE_PROMPTS = {
    Phase.DISCOVERY: ("implementation_plan.md", "Discovery Complete"),
    Phase.CODING: ("implementation_plan.md", "Coding Complete"),
    Phase.VERIFICATION: ("VERIFICATION_SUCCESS", "VERIFICATION_FAILURE"),
}


@pytest.mark.parametrize(("phase", "words"), BASE_PROMPTS.items(), ids=[each.value for each in BASE_PROMPTS])
async def test_base_prompts(phase: Phase, words: tuple[str, ...]) -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase=phase, original_goal="Make tea.")
    prompt = prompt_for(memory)
    assert all(word in prompt for word in words)
    assert "Make tea." in prompt


TOLD = {
    HeldOutKind.SHARE: "Some cases of this goal's tests are hidden from you. All cases judge each attempt",
    HeldOutKind.BROUGHT: "Tests that are hidden from you judge each attempt, too",
}


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(("kind", "words"), TOLD.items(), ids=[each.value for each in TOLD])
async def test_every_prompt_says_that_tests_are_hidden(phase: Phase, kind: HeldOutKind, words: str) -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase=phase, original_goal="Make tea.", held_out=kind)
    first = prompt_for(memory)
    gate = FakeEvaluator(wants("tea"))
    memory.add_attempt("x", [verdict(gate, False, "tea is missing")])
    for prompt in (first, prompt_for(memory)):
        assert prompt.count(words) == 1
        assert prompt.index(words) < prompt.index("## Requirements"), "the goal cannot pretend to say it"
        assert "general problem" in prompt
    without = FeedbackMemory(sprint_id=uuid4(), phase=phase, original_goal="Make tea.")
    assert "hidden" not in prompt_for(without)


async def test_guidance_reaches_the_prompt_even_before_anything_was_judged() -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase="coding", original_goal="Make tea.")
    memory.guidance = ["Use the blue kettle"]
    assert "Use the blue kettle" in prompt_for(memory)


async def test_an_evaluator_without_a_verdict_is_nothing_to_mend() -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase="coding", original_goal="Make tea.")
    gate, model = FakeEvaluator(wants("tea")), FakeEvaluator(crashes, "model")
    memory.add_attempt("x", [verdict(gate, False, "tea is missing"), errored(model, "the provider is down")])
    prompt = prompt_for(memory)
    assert "FIX: tea is missing" in prompt
    assert "the provider is down" not in prompt


async def test_an_unknown_phase_is_refused() -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase="brewing", original_goal="Make tea.")
    with pytest.raises(ValueError, match="brewing"):
        prompt_for(memory)


def varies(evaluator: FakeEvaluator, output: str) -> EvaluationResult:
    return verdict(evaluator, False, f"opinion number {'i' * len(evaluator.seen)}")


class Writer:
    """An agent that writes one file of its workspace in each attempt; the last content repeats."""

    def __init__(self, workspace: Path, *contents: str) -> None:
        self._file, self._contents = workspace / "tea.py", contents
        self.attempts = 0

    async def __call__(self, prompt: str, number: int) -> str:
        self.attempts += 1
        self._file.write_text(self._contents[min(number, len(self._contents)) - 1])
        return f"done, for the {number}. time"


async def test_an_agent_that_changes_nothing_is_stuck_whatever_advisers_say(tmp_path: Path) -> None:
    agent = Writer(tmp_path, "x = 1")
    runner = runner_with(FakeEvaluator(wants("tea")), advisers=(FakeEvaluator(varies, "taste"),))
    outcome = await runner.run_phase_with_evaluation(
        Phase.CODING, "Make tea.", agent, {"workspace_ref": str(tmp_path)}, policy=RunPolicy(max_attempts=5)
    )
    assert outcome.escalation is EscalationReason.NO_PROGRESS
    assert agent.attempts == 2


async def test_an_agent_that_changes_its_files_is_not_stuck(tmp_path: Path) -> None:
    agent = Writer(tmp_path, "x = 1", "x = 2", "x = 3")
    outcome = await runner_with(FakeEvaluator(wants("tea"))).run_phase_with_evaluation(
        Phase.CODING, "Make tea.", agent, {"workspace_ref": str(tmp_path)}, policy=RunPolicy(max_attempts=3)
    )
    assert outcome.escalation is EscalationReason.ATTEMPTS_EXHAUSTED
    assert agent.attempts == 3


async def test_without_a_workspace_the_same_words_twice_are_stuck() -> None:
    agent = Agent("coffee")
    outcome = await runner_with(FakeEvaluator(wants("tea"))).run_phase_with_evaluation(
        Phase.CODING, "Make tea.", agent, {}, policy=RunPolicy(max_attempts=5)
    )
    assert outcome.escalation is EscalationReason.NO_PROGRESS
    assert len(agent.prompts) == 2


async def test_what_judges_consume_counts_towards_the_budget() -> None:
    def costly(evaluator: FakeEvaluator, output: str) -> EvaluationResult:
        usage = {"requests": 1, "input_tokens": 90, "output_tokens": 20}
        return verdict(evaluator, False, f"not {output}").model_copy(update={"metadata": {"usage": usage}})

    outcome = await runner_with(FakeEvaluator(costly)).run_phase_with_evaluation(
        Phase.CODING, "Make tea.", Agent("a", "b"), {}, policy=RunPolicy(budget=Budget(tokens=100))
    )
    assert outcome.escalation is EscalationReason.BUDGET_EXHAUSTED


async def test_start_queues_a_sprint() -> None:
    queued: list[UUID] = []

    async def queue(sprint_id: UUID) -> None:
        queued.append(sprint_id)

    sprint_id = uuid4()
    await PhaseRunner(EvaluatorRegistry(), queue).start(sprint_id)
    assert queued == [sprint_id]


async def test_start_without_a_service_says_what_is_missing() -> None:
    with pytest.raises(ConflictError, match="begin"):
        await PhaseRunner(EvaluatorRegistry()).start(uuid4())
