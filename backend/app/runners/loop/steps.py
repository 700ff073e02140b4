"""The steps of a director-evaluator loop: each takes recorded facts and returns what to record.

The driver, in memory or with the database, records the result of a step before it takes the next one. A step
never raises: its result holds the trouble, with everything that was done before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.runners.facts import AttemptFacts
from app.runners.loop.context import (
    LoopInputs,
    Moment,
    Retold,
    condition_values,
    context_for,
    output_files,
    role_task,
    script_task,
    turns_used,
)
from app.runners.loop.errors import StoppedError, done, read_evaluation, reason_of, stop, within
from app.runners.loop.requests import answered, answers, evaluation_task, read_request, too_many
from app.runners.loop.roles import ContextFile, Exhausted, LoopParts, LoopRole, RoleTask, Trouble
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.condition import ask
from app.schemas.loop.results import (
    Exchange,
    FailureReason,
    GivenFile,
    LoopIteration,
    TaskResult,
    TaskStatus,
)
from app.schemas.loop.subtasks import SubtaskRequest
from app.schemas.runs import AttemptClosing, AttemptState, RunPolicy, Usage, WhenExhausted

PHASE = "loop"

HUMAN_ASKED = "the director says that it needs a human"


@dataclass(frozen=True, slots=True)
class Step:
    """The result of a step.

    Attributes:
        iteration: all that is known of the iteration now.
        state: how far the iteration has come. A `PRODUCED` one is ready to be judged; `PASSED` and `FAILED`
            are final.
        closing: the effect on the whole loop, if any.
        trouble: the execution error behind the closing `ERROR`.
        asks: the subtask to run before the director continues; the state is then `DELEGATED`.
    """

    iteration: LoopIteration
    state: AttemptState
    closing: AttemptClosing | None = None
    trouble: Trouble | Exhausted | None = None
    asks: SubtaskRequest | None = None

    @property
    def text(self) -> str:
        """Why the loop is closed, for people; empty if it is not closed."""
        if self.trouble is not None:
            return self.trouble.message
        asked = self.iteration.output or HUMAN_ASKED
        return asked if self.closing is AttemptClosing.HUMAN else ""

    @property
    def facts(self) -> AttemptFacts:
        """The facts of the iteration that decisions need."""
        return AttemptFacts(self.iteration.iteration, self.state, error=self.text, closing=self.closing)


def loop_policy(policy: RunPolicy, definition: DirectorEvaluatorLoop) -> RunPolicy:
    """Return the policy of a loop. When its attempts are used up, the loop returns its history."""
    figures = {
        "attempts_per_phase": definition.max_iterations,
        "when_exhausted": WhenExhausted.RETURN_HISTORY,
    }
    return policy.model_copy(update=figures)


class LoopSteps:
    """Takes the steps of one loop.

    Args:
        parts: do the work.
        definition: the loop's definition.
        inputs: the inputs with which the loop started.
        guidance: reviewers' guidance for the director.
    """

    def __init__(
        self,
        parts: LoopParts,
        definition: DirectorEvaluatorLoop,
        inputs: LoopInputs,
        guidance: Sequence[str] = (),
    ) -> None:
        self.parts = parts
        self.definition = definition
        self.inputs = inputs
        self.guidance = guidance
        self.files: Sequence[ContextFile] | None = None
        self.retold = Retold()

    async def direct(self, earlier: Sequence[LoopIteration], number: int) -> Step:
        """Begin iteration `number` after all the earlier ones: let the director propose."""
        return await self.go_on(earlier, LoopIteration(iteration=number))

    async def go_on(self, earlier: Sequence[LoopIteration], now: LoopIteration) -> Step:
        """Let the director continue, with the answers to all its requests of this iteration."""
        work = _OneIteration(self, earlier, now)
        try:
            return await work.direct()
        except StoppedError as stopped:
            return work.stopped(stopped)

    def give_up(self, now: LoopIteration, trouble: Trouble | Exhausted) -> Step:
        """End the loop in the middle of an iteration, after a subtask that failed or cannot be run."""
        return Step(now, AttemptState.FAILED, AttemptClosing.ERROR, trouble)

    def wants_script(self, now: LoopIteration) -> bool:
        """Return True if a script must run before the iteration can be judged."""
        return self.definition.script_execution is not None and now.script_output is None

    async def run_script(self, earlier: Sequence[LoopIteration], now: LoopIteration) -> Step:
        """Run the script on the director's output."""
        work = _OneIteration(self, earlier, now)
        try:
            return await work.run_script()
        except StoppedError as stopped:
            return work.stopped(stopped)

    async def judge(self, earlier: Sequence[LoopIteration], now: LoopIteration) -> Step:
        """Judge the iteration, then check the stop condition."""
        work = _OneIteration(self, earlier, now)
        try:
            return await work.judge()
        except StoppedError as stopped:
            return work.stopped(stopped)


class _OneIteration:
    """Carries out one iteration. `now` holds what is done so far, even if a later part fails."""

    def __init__(self, steps: LoopSteps, earlier: Sequence[LoopIteration], now: LoopIteration) -> None:
        self._steps = steps
        self._parts = steps.parts
        self._definition = steps.definition
        self._earlier = earlier
        self._now = now

    def stopped(self, by: StoppedError) -> Step:
        return self._steps.give_up(self._now, by.trouble)

    async def direct(self) -> Step:
        files = await self._find_files()
        definition = self._definition
        context = context_for(
            definition.context_management, definition.director.context_management, self._moment, files
        )
        task = role_task("director", definition.director, self._moment, context)
        if self._steps.guidance:
            said = "\n".join(self._steps.guidance)
            task = replace(task, inputs={**task.inputs, "guidance_by_a_human": said})
        self._keep(context=context, files=_given(files))
        result = await self._direct_once(task)
        while result.status is TaskStatus.CONTINUATION:
            subtask = await self._request(result)
            if subtask is not None:
                return Step(self._now, AttemptState.DELEGATED, asks=subtask)
            result = await self._direct_once(task)
        if result.status is TaskStatus.WAITING:
            return Step(self._now, AttemptState.FAILED, AttemptClosing.HUMAN)
        return Step(self._now, AttemptState.PRODUCED)

    async def _direct_once(self, task: RoleTask) -> TaskResult:
        told = replace(task, inputs={**task.inputs, **answers(self._now.exchanges)})
        result = await self._ask(self._parts.director, told)
        self._keep(output=result.content, notes=result.notes)
        return result

    async def _request(self, result: TaskResult) -> SubtaskRequest | None:
        """Record the director's request. Return a subtask for the caller to run; do an evaluation at once."""
        request = too_many(self._now.exchanges) or read_request(result)
        if isinstance(request, Trouble | Exhausted):
            raise StoppedError(request)
        if isinstance(request, SubtaskRequest):
            self._keep(exchanges=[*self._now.exchanges, Exchange(subtask_request=request)])
            return request
        self._keep(exchanges=[*self._now.exchanges, Exchange(evaluation_request=request)])
        task = evaluation_task(request, result, self._definition.evaluator, self._moment)
        judged = await self._ask(self._parts.evaluator, task)
        self._now = answered(self._now, judged)
        return None

    async def run_script(self) -> Step:
        script = self._definition.script_execution
        assert script is not None  # noqa: S101 - the driver asks `wants_script` first
        if self._parts.script is None:
            stop(FailureReason.EXECUTION_HALTED, "the definition has a script, and none can be run here")
        files = output_files(self._definition, self._now)
        task = replace(script_task(script, self._moment), files=files)
        output, milliseconds = await done("the script", self._parts.script(task))
        times = self._now.times.model_copy(update={"script": milliseconds})
        self._keep(script_output=output, times=times)
        within("output", len(output.stdout) + len(output.stderr), self._parts.limits.output_chars)
        return Step(self._now, AttemptState.PRODUCED)

    async def judge(self) -> Step:
        files = await self._find_files()
        definition = self._definition
        context = context_for(
            definition.context_management, definition.evaluator.context_management, self._moment, files
        )
        task = role_task("evaluator", definition.evaluator, self._moment, context)
        task = replace(task, files=output_files(definition, self._now))
        evaluation = read_evaluation(await self._ask(self._parts.evaluator, task))
        if self._now.script_output is not None:
            # The script's output comes from its run, not from the evaluator.
            evaluation = evaluation.model_copy(update={"script_output": self._now.script_output})
        self._keep(evaluation=evaluation)
        met = self._condition_met()
        if evaluation.success:
            return Step(self._now, AttemptState.PASSED)
        return Step(self._now, AttemptState.FAILED, AttemptClosing.CONDITION if met else None)

    def _condition_met(self) -> bool:
        condition = self._definition.termination_condition
        if condition is None:
            return False
        outcome = ask(condition.condition, condition_values(self._now))
        self._keep(condition_met=outcome.met, condition_trouble=outcome.trouble)
        return outcome.met

    async def _find_files(self) -> Sequence[ContextFile]:
        steps, wanted = self._steps, self._definition.file_paths
        if steps.files is None:
            steps.files = await self._search(wanted)
        return steps.files

    async def _search(self, wanted: Sequence[str]) -> Sequence[ContextFile]:
        if self._parts.files is None:
            if wanted:
                stop(FailureReason.CONTEXT_RETRIEVAL_FAILURE, "there is no workspace to read file_paths from")
            return ()
        search = self._definition.context_management.fresh_context == "enabled"
        found = self._parts.files(self._steps.inputs.user_query, wanted, search=search)
        files, _ = await done("the search for files", found)
        return files

    async def _ask(self, role: LoopRole, task: RoleTask) -> TaskResult:
        limits = self._parts.limits
        within("turns", turns_used(self._earlier) + self._now.turns + 1, limits.turns)
        seen = len(task.assignment) + len(task.context) + sum(map(len, task.material.values()))
        within("context", seen, limits.context_chars)
        try:
            result, milliseconds = await done(f"the {task.role}", role(task))
        except StoppedError as stopped:
            self._took(task.role, 0, stopped.trouble.usage)
            raise
        self._took(task.role, milliseconds, result.usage)
        within("output", len(result.content), limits.output_chars)
        if result.status is TaskStatus.FAILED:
            stop(reason_of(result), result.content or f"the {task.role} failed")
        return result

    def _took(self, role: str, milliseconds: int, usage: Usage | None) -> None:
        """Add the time and usage of a call to what the role used earlier in this iteration."""
        times, spent = self._now.times.model_dump(), dict(self._now.usage)
        times[role] = milliseconds + (times[role] or 0)
        spent[role] = Usage.total(each for each in (spent[role], usage) if each) if usage else spent[role]
        self._keep(
            times=self._now.times.model_copy(update=times),
            usage=self._now.usage.model_copy(update=spent),
            turns=self._now.turns + 1,
        )

    @property
    def _moment(self) -> Moment:
        return Moment(self._steps.inputs, self._earlier, self._now, self._steps.retold)

    def _keep(self, **what: object) -> None:
        self._now = self._now.model_copy(update=what)


def _given(files: Sequence[ContextFile]) -> list[GivenFile]:
    return [
        GivenFile(path=each.path, chars=len(each.text), whole=each.whole, named=each.named) for each in files
    ]
