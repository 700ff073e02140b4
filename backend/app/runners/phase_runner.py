"""Sprints: discovery, coding and verification, each a loop that learns from what failed."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

from app.runners.decision import (
    AttemptFacts,
    CompletePhase,
    Decision,
    Escalate,
    EscalationFacts,
    Evaluate,
    History,
    Spent,
    StartAttempt,
)
from app.runners.evaluators import panel
from app.runners.evaluators.acceptance import Acceptance, is_signed
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.issues import failure_fingerprint
from app.runners.evaluators.project.project_file import ProjectFileError
from app.runners.evaluators.protocol import EvaluationContext, EvaluationResult, EvaluationStatus
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.verdict import PanelVerdict, VerdictPolicy, VerdictStatus, judge
from app.runners.project import ProjectPanel, ProjectRules, panel_for, read_from_tree, remark_on_change
from app.runners.prompts.sprint import base_prompt, optimized_prompt
from app.runners.refinement import refine
from app.schemas.runs import AttemptState, EscalationReason, Phase, RunPolicy, RunStatus

Begin = Callable[[UUID], Awaitable[None]]
"""Sets a recorded sprint going."""

Produce = Callable[[str, int], Awaitable[str]]
"""Lets an agent work: takes the prompt and the attempt's number, gives its final message."""


MAX_SUGGESTIONS = 10
"""Suggestions of one evaluator that a prompt repeats."""


@dataclass(frozen=True, slots=True)
class PhaseOutcome:
    """How a phase ended: by its last verdict, or with the reason for which a human is needed."""

    passed: bool
    memory: FeedbackMemory
    verdict: PanelVerdict | None
    escalation: EscalationReason | None = None


class PhaseRunner:
    """Prompts, judges and refines the phases of a sprint.

    Args:
        registry: the evaluators of each phase.
        begin: sets a recorded sprint going; what `start` calls.
        rules: how far projects choose what judges them.
        panel: what judges one project, as `for_project` found it.
    """

    def __init__(
        self,
        registry: EvaluatorRegistry,
        begin: Begin,
        rules: ProjectRules | None = None,
        panel: ProjectPanel | None = None,
    ) -> None:
        self._registry = panel.registry if panel else registry
        self._operators = registry
        self._begin = begin
        self._rules = rules or ProjectRules()
        self._project = panel

    def for_project(self, content: bytes | ProjectFileError | None) -> "PhaseRunner":
        """Give the runner that judges a project as its file at the base commit says.

        Args:
            content: of the file; None when there is none. One that cannot be used lets nothing pass.
        """
        found = panel_for(self._operators, content, self._rules)
        return PhaseRunner(self._operators, self._begin, self._rules, found)

    async def for_tree(self, base: Path | None) -> "PhaseRunner":
        """Give the runner that judges a project whose base commit is in this tree."""
        if base is None:
            return self.for_project(None)
        return self.for_project(await asyncio.to_thread(read_from_tree, base))

    def limited_to(self, names: Collection[str]) -> "PhaseRunner":
        """Give the runner that asks these evaluators alone, as the project sets them; no names are all.

        The commands of a project are not asked unless they are named. Where the project's file cannot be
        used, nobody else is asked, as ever.
        """
        found = self._project
        if not names or found is None or found.problems:
            return self
        only = replace(found, registry=found.registry.only(names))
        return PhaseRunner(self._operators, self._begin, self._rules, only)

    @property
    def project(self) -> ProjectPanel | None:
        """What the project's file says; None when nobody has looked."""
        return self._project

    def get_evaluator_registry(self) -> EvaluatorRegistry:
        """The evaluators this runner judges with."""
        return self._registry

    async def start(self, sprint_id: UUID) -> None:
        """Set a recorded sprint going; its phases run in a worker."""
        await self._begin(sprint_id)

    async def evaluate_phase_output(
        self,
        phase: str,
        output: str,
        context: EvaluationContext,
        deterministic_only: bool = False,
        *,
        on_result: panel.OnResult | None = None,
        acceptances: Sequence[Acceptance] = (),
    ) -> list[EvaluationResult]:
        """Have every evaluator of the phase judge an output.

        A crashed evaluator is in the list as `errored`; the list is never shorter than the phase's
        evaluators, but for LLM evaluators that were not asked because a deterministic gate did not hold.
        """
        context = self._project.context(context) if self._project else context
        results = await panel.evaluate(
            phase,
            output,
            context,
            self._registry,
            deterministic_only=deterministic_only,
            on_result=on_result,
            acceptances=acceptances,
        )
        remark = await self._remark(context)
        if remark is None:
            return results
        if on_result is not None:
            await on_result(remark)
        return [*results, remark]

    async def _remark(self, context: EvaluationContext) -> EvaluationResult | None:
        """Say it when the candidate changed the project's file, which judges only later runs."""
        workspace, project = context.get("workspace_ref"), self._project
        if not workspace or project is None or project.problems or not self._rules.honour:
            return None
        now = await asyncio.to_thread(read_from_tree, Path(workspace))
        return None if now == project.content else remark_on_change(project, now)

    def judge(
        self,
        phase: str,
        results: Sequence[EvaluationResult],
        policy: RunPolicy,
        acceptances: Sequence[Acceptance] = (),
    ) -> PanelVerdict:
        """Draw the verdict of an attempt from its evaluators' results, and what humans accepted before it."""
        threshold = policy.pass_threshold
        if self._project is not None:
            threshold = self._project.pass_threshold(threshold)
        thresholds = VerdictPolicy(threshold, policy.blocking_threshold)
        return judge(results, self._registry.gates(phase), thresholds, acceptances)

    def prompt_for(self, memory: FeedbackMemory) -> str:
        """The prompt of the attempt about to run: the base prompt, or one that tells what failed."""
        if not memory.attempts and not memory.guidance:
            return base_prompt(memory.phase, memory.original_goal)
        return self.optimize_and_retry(memory)

    def optimize_and_retry(self, memory: FeedbackMemory) -> str:
        """The prompt of a retry, made of the memory of the attempts so far."""
        last = memory.latest_attempt
        return optimized_prompt(
            phase=memory.phase,
            goal=memory.original_goal,
            summary=memory.get_summary_for_prompt(),
            fixes=_fixes(last.evaluation_results) if last else [],
            recurring=memory.recurring_issues,
            attempt=memory.current_attempt,
            max_attempts=memory.max_attempts,
        )

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
        """Run one phase in memory, without database and queue: produce, evaluate, and retry with feedback.

        Sprints run the same loop over recorded rows; this is for programs that bring their own workspace.
        Pauses are not slept: whatever the producer raises ends the phase.
        """
        base = context.get("base_ref")
        runner = await self.for_tree(Path(base) if base else None)
        loop = _PhaseInMemory(
            runner, phase, goal, produce, context, policy or RunPolicy(), sprint_id or uuid4()
        )
        await refine(loop.load, loop.carry_out)
        return loop.outcome()


def _fixes(results: Sequence[EvaluationResult]) -> list[str]:
    # An evaluator that reached no verdict gives the agent nothing to mend, and what was accepted stays.
    failed = [each for each in results if each.status is EvaluationStatus.FAILED and not is_signed(each)]
    return ["\n   - ".join([each.feedback, *each.suggestions[:MAX_SUGGESTIONS]]) for each in failed]


class _PhaseInMemory:
    """The records of one phase, kept in memory."""

    def __init__(
        self,
        runner: PhaseRunner,
        phase: str,
        goal: str,
        produce: Produce,
        context: EvaluationContext,
        policy: RunPolicy,
        sprint_id: UUID,
    ) -> None:
        self._runner = runner
        self._produce = produce
        self._context = context
        self._policy = policy
        self._phase: str | None = phase
        self._attempts: dict[int, AttemptFacts] = {}
        self._outputs: dict[int, str] = {}
        self._escalation: EscalationFacts | None = None
        self._verdict: PanelVerdict | None = None
        self.memory = FeedbackMemory(
            sprint_id=sprint_id, phase=phase, original_goal=goal, max_attempts=policy.max_attempts
        )

    async def load(self) -> tuple[History, RunPolicy]:
        history = History(
            status=RunStatus.ACTIVE,
            phases=(self.memory.phase,),
            phase=self._phase,
            attempts=tuple(self._attempts.values()),
            escalations=(self._escalation,) if self._escalation else (),
            spent=Spent(),
            now=datetime.now(UTC),
        )
        return history, self._policy

    async def carry_out(self, decision: Decision) -> None:
        match decision:
            case StartAttempt(_, number):
                self._outputs[number] = await self._produce(self._runner.prompt_for(self.memory), number)
                self._attempts[number] = AttemptFacts(number, AttemptState.PRODUCED)
            case Evaluate(phase, number):
                await self._evaluate(phase, number)
            case CompletePhase():
                self._phase = None
            case Escalate(_, number, reason, text):
                self.memory.escalate(text)
                self._escalation = EscalationFacts(number, reason)
            case _:
                pass

    async def _evaluate(self, phase: str, number: int) -> None:
        context: EvaluationContext = {**self._context, "goal": self.memory.original_goal, "attempt": number}
        results = await self._runner.evaluate_phase_output(
            phase, self._outputs[number], context, self._policy.deterministic_only
        )
        self._verdict = self._runner.judge(phase, results, self._policy)
        facts = self._attempts[number]
        if self._verdict.status is VerdictStatus.ERRORED:
            failures = facts.evaluation_failures + 1
            self._attempts[number] = replace(facts, evaluation_failures=failures, error=self._verdict.reason)
            return
        passed = self._verdict.status is VerdictStatus.PASSED
        prompt = self._runner.prompt_for(self.memory)
        self.memory.add_attempt(self._outputs[number], results, prompt, verdict_score=self._verdict.score)
        self._attempts[number] = replace(
            facts,
            state=AttemptState.PASSED if passed else AttemptState.FAILED,
            question=self._verdict.reason if self._verdict.status is VerdictStatus.ASKS else "",
            fingerprint=None if passed else failure_fingerprint(results),
        )

    def outcome(self) -> PhaseOutcome:
        reason = self._escalation.reason if self._escalation else None
        return PhaseOutcome(reason is None, self.memory, self._verdict, reason)
