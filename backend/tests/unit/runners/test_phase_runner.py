"""The front door of sprints: prompts, evaluation, and the loop of one phase in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

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
from app.schemas.runs import EscalationReason, Phase, RunPolicy

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


async def begin(sprint_id: UUID) -> None:
    raise AssertionError("nothing is started here")


def runner_with(*evaluators: FakeEvaluator, advisers: tuple[FakeEvaluator, ...] = ()) -> PhaseRunner:
    registry = EvaluatorRegistry()
    for each in evaluators:
        registry.register(each)
    for each in advisers:
        registry.register(each, gate=False)
    return PhaseRunner(registry, begin)


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
    prompt = runner_with().prompt_for(memory)
    assert all(word in prompt for word in words)
    assert "Make tea." in prompt


async def test_guidance_reaches_the_prompt_even_before_anything_was_judged() -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase="coding", original_goal="Make tea.")
    memory.guidance = ["Use the blue kettle"]
    assert "Use the blue kettle" in runner_with().prompt_for(memory)


async def test_an_evaluator_without_a_verdict_is_nothing_to_mend() -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase="coding", original_goal="Make tea.")
    gate, model = FakeEvaluator(wants("tea")), FakeEvaluator(crashes, "model")
    memory.add_attempt("x", [verdict(gate, False, "tea is missing"), errored(model, "the provider is down")])
    prompt = runner_with().prompt_for(memory)
    assert "FIX: tea is missing" in prompt
    assert "the provider is down" not in prompt


async def test_an_unknown_phase_is_refused() -> None:
    memory = FeedbackMemory(sprint_id=uuid4(), phase="brewing", original_goal="Make tea.")
    with pytest.raises(ValueError, match="brewing"):
        runner_with().prompt_for(memory)
