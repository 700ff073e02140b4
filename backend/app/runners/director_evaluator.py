"""Director-evaluator loops for programs that use PhaseRunner as a library.

The service runs the same steps over recorded rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.runners.decision import (
    CompletePhase,
    Decision,
    Escalate,
    Evaluate,
    Fail,
    StartAttempt,
)
from app.runners.in_memory import MemoryRecords
from app.runners.loop.context import LoopInputs, bind, fill, turns_used
from app.runners.loop.errors import loop_result, refused
from app.runners.loop.requests import answered, charged, result_of
from app.runners.loop.roles import Exhausted, LoopLimits, LoopParts, Trouble
from app.runners.loop.steps import PHASE, LoopSteps, Step, loop_policy
from app.runners.loop.subtasks import Lineage, SubtaskLedger, outermost, plan_subtask
from app.runners.refinement import refine
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import LoopEnd, LoopIteration, LoopResult, TaskStatus
from app.schemas.loop.subtasks import SubtaskRequest
from app.schemas.runs import AttemptClosing, AttemptState, RunPolicy, Usage

__all__ = ["PHASE", "DirectorEvaluator", "LoopLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorEvaluator(LoopParts):
    """Runs director-evaluator loops in memory."""

    async def run(
        self,
        definition: DirectorEvaluatorLoop,
        inputs: Mapping[str, str] | None = None,
        *,
        query: str = "",
        inherited: str = "",
        lineage: Lineage | None = None,
    ) -> LoopResult:
        """Run a loop to its end. The result holds every execution error and all that was completed before it.

        Args:
            definition: the loop's definition.
            inputs: the inputs of the task, by name.
            query: the user's query. If empty, the input `user_query` or the description is used.
            inherited: the context that the loop inherits from its caller.
            lineage: the ancestors of a subtask; None for an outermost loop.
        """
        try:
            bound = bind(definition, inputs or {}, query=query, inherited=inherited)
        except ValueError as error:
            return refused(str(error))
        own = lineage or outermost(fill(definition.description, bound.values), bound.values)
        loop = _LoopInMemory(self, definition, bound, own)
        await refine(loop.records.load, loop.carry_out)
        return loop.result()


class _LoopInMemory:
    """Carries out the decisions of one loop."""

    def __init__(
        self,
        runner: DirectorEvaluator,
        definition: DirectorEvaluatorLoop,
        inputs: LoopInputs,
        lineage: Lineage,
    ) -> None:
        self._runner = runner
        self._definition = definition
        self._lineage = lineage
        self._steps = LoopSteps(runner, definition, inputs)
        self._recorded: dict[int, Step] = {}
        self.records = MemoryRecords(PHASE, loop_policy(RunPolicy(), definition))
        self._end = LoopEnd.MAXIMUM

    async def carry_out(self, decision: Decision) -> None:
        match decision:
            case StartAttempt(_, number):
                self._record(number, await self._direct(number))
            case Evaluate(_, number):
                await self._evaluate(number)
            case CompletePhase(_, number):
                closed = self._recorded[number].closing is AttemptClosing.CONDITION
                self._end = LoopEnd.CONDITION if closed else LoopEnd.SUCCESS
                self.records.phase = None
            case Escalate():
                # Without the service there is no reviewer to answer: the caller decides what to do with the
                # question.
                self._end = LoopEnd.WAITING
            case Fail():
                self._end = LoopEnd.ERROR
            case _:
                pass

    async def _direct(self, number: int) -> Step:
        step = await self._steps.direct(self._before(number), number)
        while step.asks is not None:
            step = await self._run_subtask(step.asks, step.iteration)
        return step

    async def _run_subtask(self, request: SubtaskRequest, now: LoopIteration) -> Step:
        """Run a subtask to its end, then continue the director with the result."""
        earlier, limits = self._before(now.iteration), self._runner.limits
        ledger = SubtaskLedger(turns=limits.turns, turns_used=turns_used([*earlier, now]))
        plan = plan_subtask(request, self._definition, self._lineage, ledger, context=now.context)
        if isinstance(plan, Trouble | Exhausted):
            return self._steps.give_up(now, plan)
        runner = replace(self._runner, limits=replace(limits, turns=plan.turns))
        result = await runner.run(
            plan.definition, plan.inputs, query=plan.query, inherited=plan.inherited, lineage=plan.lineage
        )
        now = charged(now, result.usage, turns_used(result.iteration_history))
        back = result_of(result)
        if isinstance(back, Trouble):
            return self._steps.give_up(now, back)
        now = answered(now, back)
        if back.status is TaskStatus.WAITING:
            return Step(now, AttemptState.FAILED, AttemptClosing.HUMAN)
        return await self._steps.go_on(earlier, now)

    async def _evaluate(self, number: int) -> None:
        earlier, now = self._before(number), self._recorded[number].iteration
        step = self._steps.run_script if self._steps.wants_script(now) else self._steps.judge
        self._record(number, await step(earlier, now))

    def _record(self, number: int, step: Step) -> None:
        self._recorded[number], self.records.attempts[number] = step, step.facts
        self.records.usage = Usage.total(each.iteration.usage.total for each in self._recorded.values())

    def _before(self, number: int) -> list[LoopIteration]:
        return [self._recorded[each].iteration for each in range(1, number)]

    def result(self) -> LoopResult:
        steps = list(self._recorded.values())
        return loop_result([each.iteration for each in steps], self._end, steps[-1].trouble)
