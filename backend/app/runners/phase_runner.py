"""Sprint phases for programs that use PhaseRunner as a library.

The service runs the same loop over recorded rows, with `PhasePanel` and the prompts directly.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID, uuid4

from app.core.errors import ConflictError
from app.runners.decision import CompletePhase, Decision, Escalate, Evaluate, StartAttempt
from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.panel import OnResult, judges_usage
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.verdict import PanelVerdict, VerdictStatus
from app.runners.facts import AttemptFacts, EscalationFacts
from app.runners.in_memory import MemoryRecords, text_identity, tree_identity
from app.runners.phase_panel import PhasePanel, fingerprint_of
from app.runners.project import ProjectRules
from app.runners.prompts.phase import prompt_for, retry_prompt
from app.runners.refinement import refine
from app.schemas.runs import AttemptState, EscalationReason, Phase, RunPolicy, Usage

Begin = Callable[[UUID], Awaitable[None]]
"""Queues a recorded sprint."""

Produce = Callable[[str, int], Awaitable[str]]
"""Lets an agent work: takes the prompt and the attempt's number, returns its final message."""


@dataclass(frozen=True, slots=True)
class PhaseOutcome:
    """How a phase ended: with its last verdict, or with the reason why a reviewer is needed."""

    passed: bool
    memory: FeedbackMemory
    verdict: PanelVerdict | None
    escalation: EscalationReason | None = None


class PhaseRunner:
    """Prompts, evaluates and retries the phases of a sprint.

    Args:
        registry: the evaluators of each phase.
        begin: queues a recorded sprint, for `start`; None for programs without the service.
        rules: how far projects may choose their evaluators.
    """

    def __init__(
        self, registry: EvaluatorRegistry, begin: Begin | None = None, rules: ProjectRules | None = None
    ) -> None:
        self._panel = PhasePanel(registry, rules)
        self._begin = begin

    def get_evaluator_registry(self) -> EvaluatorRegistry:
        """The evaluators of each phase."""
        return self._panel.get_evaluator_registry()

    async def start(self, sprint_id: UUID) -> None:
        """Queue a recorded sprint. A worker then runs its phases.

        Raises:
            ConflictError: this runner was made without a service that queues sprints.
        """
        if self._begin is None:
            raise ConflictError("this PhaseRunner has no service that queues sprints: give it `begin`")
        await self._begin(sprint_id)

    async def evaluate_phase_output(
        self,
        phase: str,
        output: str,
        context: EvaluationContext,
        deterministic_only: bool = False,
        *,
        on_result: OnResult | None = None,
        acceptances: Sequence[Acceptance] = (),
    ) -> list[EvaluationResult]:
        """Run every evaluator of the phase on an output, as `PhasePanel.evaluate_phase_output` does."""
        return await self._panel.evaluate_phase_output(
            phase, output, context, deterministic_only, on_result=on_result, acceptances=acceptances
        )

    def optimize_and_retry(self, memory: FeedbackMemory) -> str:
        """Return the prompt of a retry, made from the memory of the attempts so far."""
        return retry_prompt(memory)

    async def run_phase_with_evaluation(
        self,
        phase: Phase,
        goal: str,
        produce: Produce,
        context: EvaluationContext,
        *,
        policy: RunPolicy | None = None,
        sprint_id: UUID | None = None,
    ) -> PhaseOutcome:
        """Run one phase without database and queue: produce, evaluate, and retry with feedback.

        `context["workspace_ref"]` is the tree in which the producer works, and `base_ref` the tree from which
        it started. The loop never pauses between attempts. An exception in the producer ends the phase.
        """
        base = context.get("base_ref")
        panel = await self._panel.for_tree(Path(base) if base else None)
        loop = _PhaseInMemory(
            panel, phase, goal, produce, context, policy or RunPolicy(), sprint_id or uuid4()
        )
        await refine(loop.records.load, loop.carry_out)
        return loop.outcome()


class _PhaseInMemory:
    """Carries out the decisions of one phase."""

    def __init__(
        self,
        panel: PhasePanel,
        phase: str,
        goal: str,
        produce: Produce,
        context: EvaluationContext,
        policy: RunPolicy,
        sprint_id: UUID,
    ) -> None:
        self._panel = panel
        self._produce = produce
        self._context = context
        self._outputs: dict[int, str] = {}
        self._verdict: PanelVerdict | None = None
        self.records = MemoryRecords(phase, policy)
        self.memory = FeedbackMemory(
            sprint_id=sprint_id, phase=phase, original_goal=goal, max_attempts=policy.attempts_per_phase
        )

    async def carry_out(self, decision: Decision) -> None:
        match decision:
            case StartAttempt(_, number):
                await self._start(number)
            case Evaluate(phase, number):
                await self._evaluate(phase, number)
            case CompletePhase():
                self.records.phase = None
            case Escalate(_, number, reason, text):
                self.memory.escalate(text)
                self.records.escalation = EscalationFacts(number, reason)
            case _:
                pass

    async def _start(self, number: int) -> None:
        output = await self._produce(prompt_for(self.memory), number)
        workspace = self._context.get("workspace_ref")
        # Without a workspace, the output is the attempt's only trace.
        tree = await asyncio.to_thread(tree_identity, Path(workspace)) if workspace else text_identity(output)
        self._outputs[number] = output
        self.records.attempts[number] = AttemptFacts(number, AttemptState.PRODUCED, tree=tree)

    async def _evaluate(self, phase: str, number: int) -> None:
        records, output = self.records, self._outputs[number]
        context: EvaluationContext = {**self._context, "goal": self.memory.original_goal, "attempt": number}
        results = await self._panel.evaluate_phase_output(
            phase, output, context, records.policy.deterministic_only
        )
        self._verdict = verdict = self._panel.judge(phase, results, records.policy)
        records.usage = Usage.total([records.usage, judges_usage(results)])
        facts = records.attempts[number]
        if verdict.status is VerdictStatus.ERRORED:
            failures = facts.evaluation_failures + 1
            records.attempts[number] = replace(facts, evaluation_failures=failures, error=verdict.reason)
            return
        prompt = prompt_for(self.memory)
        self.memory.add_attempt(output, results, prompt, verdict_score=verdict.score)
        passed = verdict.status is VerdictStatus.PASSED
        records.attempts[number] = replace(
            facts,
            state=AttemptState.PASSED if passed else AttemptState.FAILED,
            fingerprint=None if passed else fingerprint_of(results, verdict),
            question=verdict.reason if verdict.status is VerdictStatus.ASKS else "",
        )

    def outcome(self) -> PhaseOutcome:
        escalation = self.records.escalation
        reason = escalation.reason if escalation else None
        return PhaseOutcome(reason is None, self.memory, self._verdict, reason)
