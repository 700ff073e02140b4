"""The front door of director-evaluator loops, on the loop that sprints use: direct, run, evaluate, decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

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
from app.runners.loop_context import LoopInputs, Moment, bind, context_for, role_task, script_task
from app.runners.loop_errors import (
    StoppedError,
    done,
    error_of,
    read_evaluation,
    reason_of,
    refused,
    stop,
    within,
)
from app.runners.loop_roles import ContextFile, Exhausted, Files, Role, RoleTask, Script, Trouble
from app.runners.refinement import refine
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop_condition import ask
from app.schemas.loop_results import FailureReason, LoopEnd, LoopIteration, LoopResult, TaskResult, TaskStatus
from app.schemas.runs import AttemptState, RunPolicy, RunStatus

PHASE = "loop"


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """Bounds on one loop: calls of director and evaluator, and characters that one call sees or gives."""

    turns: int = 2 * 100
    context_chars: int = 400_000
    output_chars: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorEvaluator:
    """Runs director-evaluator loops.

    Attributes:
        director: proposes.
        evaluator: judges.
        script: runs what a definition wants to have run; None where nothing can be run.
        files: finds the files of a workspace; None without one.
        limits: of each loop.
    """

    director: Role
    evaluator: Role
    script: Script | None = None
    files: Files | None = None
    limits: LoopLimits = field(default_factory=LoopLimits)

    async def run(
        self,
        definition: DirectorEvaluatorLoop,
        inputs: Mapping[str, str] | None = None,
        *,
        query: str = "",
        inherited: str = "",
    ) -> LoopResult:
        """Run a loop to its end. Every execution error is in the result, with what was completed before.

        Args:
            definition: of the loop.
            inputs: of the task, by name.
            query: the user's; the input `user_query` or the description when it is empty.
            inherited: the context around the task.
        """
        try:
            bound = bind(definition, inputs or {}, query=query, inherited=inherited)
        except ValueError as error:
            return refused(str(error))
        loop = _LoopInMemory(self, definition, bound)
        await refine(loop.load, loop.carry_out)
        return loop.result()


class _LoopInMemory:
    """The records of one loop, kept in memory."""

    def __init__(
        self, door: DirectorEvaluator, definition: DirectorEvaluatorLoop, inputs: LoopInputs
    ) -> None:
        self._door = door
        self._definition = definition
        self._inputs = inputs
        self._policy = RunPolicy(max_attempts=definition.max_iterations)
        self._facts: dict[int, AttemptFacts] = {}
        self._iterations: dict[int, LoopIteration] = {}
        self._files: Sequence[ContextFile] | None = None
        self._phase: str | None = PHASE
        self._status = RunStatus.ACTIVE
        self._escalation: EscalationFacts | None = None
        self._turns = 0
        self._end = LoopEnd.MAXIMUM
        self._trouble: Trouble | Exhausted | None = None

    async def load(self) -> tuple[History, RunPolicy]:
        history = History(
            status=self._status,
            phases=(PHASE,),
            phase=self._phase,
            attempts=tuple(self._facts.values()),
            escalations=(self._escalation,) if self._escalation else (),
            spent=Spent(),
            now=datetime.now(UTC),
        )
        return history, self._policy

    async def carry_out(self, decision: Decision) -> None:
        try:
            match decision:
                case StartAttempt(_, number):
                    await self._produce(number)
                case Evaluate(_, number):
                    await self._evaluate(number)
                case CompletePhase():
                    self._phase = None
                case Escalate(_, number, reason, _):
                    # No human is asked here: the maximum is how a loop may end.
                    self._escalation = EscalationFacts(number, reason)
                case _:
                    pass
        except StoppedError as stopped:
            self._trouble = stopped.trouble
            self._finish(RunStatus.FAILED, LoopEnd.ERROR)

    async def _produce(self, number: int) -> None:
        self._iterations[number] = LoopIteration(iteration=number)
        await self._look_for_files()
        result = await self._direct(number)
        if result.status is TaskStatus.WAITING:
            self._finish(RunStatus.COMPLETED, LoopEnd.WAITING)
            return
        await self._run_script(number)
        self._facts[number] = AttemptFacts(number, AttemptState.PRODUCED)

    async def _look_for_files(self) -> None:
        wanted, search = self._definition.file_paths, self._definition.context_management.fresh_context
        if self._files is not None:
            return
        if self._door.files is None:
            if wanted:
                stop(FailureReason.CONTEXT_RETRIEVAL_FAILURE, "there is no workspace to read file_paths from")
            self._files = ()
            return
        found = self._door.files(self._inputs.user_query, wanted, search=search == "enabled")
        self._files, _ = await done("the search for files", found)

    async def _direct(self, number: int) -> TaskResult:
        definition = self._definition.director
        task = role_task("director", definition, self._moment(number), self._context(number, "director"))
        self._keep(number, context=task.context)
        result, milliseconds = await self._ask(self._door.director, task)
        times = self._iterations[number].times.model_copy(update={"director": milliseconds})
        self._keep(number, output=result.content, notes=result.notes, times=times)
        if result.status is TaskStatus.CONTINUATION:
            stop(FailureReason.SUBTASK_FAILURE, "the director asks for a subtask, and none can be run here")
        return result

    async def _run_script(self, number: int) -> None:
        script = self._definition.script_execution
        if script is None:
            return
        if self._door.script is None:
            stop(FailureReason.EXECUTION_HALTED, "the definition has a script, and none can be run here")
        task = script_task(script, self._moment(number))
        output, milliseconds = await done("the script", self._door.script(task))
        times = self._iterations[number].times.model_copy(update={"script": milliseconds})
        self._keep(number, script_output=output, times=times)
        within("output", len(output.stdout) + len(output.stderr), self._door.limits.output_chars)

    async def _evaluate(self, number: int) -> None:
        definition = self._definition.evaluator
        task = role_task("evaluator", definition, self._moment(number), self._context(number, "evaluator"))
        result, milliseconds = await self._ask(self._door.evaluator, task)
        evaluation = read_evaluation(result)
        iteration = self._iterations[number]
        if iteration.script_output is not None:
            # What ran says what it printed, not whoever judged it.
            evaluation = evaluation.model_copy(update={"script_output": iteration.script_output})
        times = iteration.times.model_copy(update={"evaluator": milliseconds})
        self._keep(number, evaluation=evaluation, times=times)
        self._facts[number] = replace(
            self._facts[number], state=AttemptState.PASSED if evaluation.success else AttemptState.FAILED
        )
        if self._condition_met(number) and not evaluation.success:
            self._finish(RunStatus.COMPLETED, LoopEnd.CONDITION)
        elif evaluation.success:
            self._end = LoopEnd.SUCCESS

    def _condition_met(self, number: int) -> bool:
        condition = self._definition.termination_condition
        if condition is None:
            return False
        iteration = self._iterations[number]
        script, evaluation = iteration.script_output, iteration.evaluation
        values = {
            "iteration": number,
            "evaluation": evaluation.model_dump(mode="json") if evaluation else None,
            "director": {"content": iteration.output, "status": "COMPLETE", "notes": iteration.notes},
            "script": script.model_dump(mode="json") if script else None,
        }
        outcome = ask(condition.condition, values)
        self._keep(number, condition_met=outcome.met, condition_trouble=outcome.trouble)
        return outcome.met

    async def _ask(self, role: Role, task: RoleTask) -> tuple[TaskResult, int]:
        self._turns += 1
        within("turns", self._turns, self._door.limits.turns)
        seen = len(task.description) + len(task.context) + sum(map(len, task.inputs.values()))
        within("context", seen, self._door.limits.context_chars)
        result, milliseconds = await done(f"the {task.role}", role(task))
        within("output", len(result.content), self._door.limits.output_chars)
        if result.status is TaskStatus.FAILED:
            stop(reason_of(result), result.content or f"the {task.role} failed")
        return result, milliseconds

    def _moment(self, number: int) -> Moment:
        earlier = [self._iterations[each] for each in range(1, number)]
        return Moment(self._inputs, earlier, self._iterations[number])

    def _context(self, number: int, role: str) -> str:
        definition = self._definition
        own = definition.director if role == "director" else definition.evaluator
        moment = self._moment(number)
        return context_for(definition.context_management, own.context_management, moment, self._files or ())

    def _keep(self, number: int, **what: object) -> None:
        self._iterations[number] = self._iterations[number].model_copy(update=what)

    def _finish(self, status: RunStatus, end: LoopEnd) -> None:
        self._status, self._end = status, end

    def result(self) -> LoopResult:
        history = list(self._iterations.values())
        evaluations = [each.evaluation for each in history if each.evaluation]
        outputs = [each.output for each in history if each.output is not None]
        return LoopResult(
            final_output=outputs[-1] if outputs else "",
            final_evaluation=evaluations[-1] if evaluations else None,
            success=self._trouble is None and bool(evaluations) and evaluations[-1].success,
            iterations_completed=len(evaluations),
            iteration_history=history,
            ended_by=self._end,
            error=error_of(self._trouble, history) if self._trouble else None,
        )
