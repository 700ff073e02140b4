"""Carries out the iterations of a director-evaluator loop, and records each step before the next one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

import logfire

from app.core.errors import NotFoundError, WorkspaceError
from app.core.events.evaluations import EvaluationStartedData
from app.core.events.iterations import IterationStartedData
from app.core.tracing import current_trace_id
from app.db.engine import Sessions
from app.db.models import Attempt
from app.db.outages import is_outage
from app.realtime.store import Fence
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult
from app.runners.loop.context import fill
from app.runners.loop.requests import answered, charged
from app.runners.loop.roles import Trouble
from app.runners.loop.steps import PHASE, LoopSteps, Step
from app.schemas.agents import AgentSpec
from app.schemas.loop.results import FailureReason, LoopIteration
from app.schemas.runs import AttemptClosing, AttemptState, ModelRole, RunPolicy, Usage
from app.services.execute.loop_parts import Workshop
from app.services.execute.subtasks import Came, awaited, came_of, limits_of
from app.services.record.attempts import claim_attempt
from app.services.record.history import Recorded, said_by_humans, told
from app.services.record.iteration_events import (
    tell_directed,
    tell_judged,
    tell_script,
    tell_subtask,
    tell_trouble,
)
from app.services.record.iterations import iteration_of, keep_step, load_earlier, loop_of
from app.services.record.ledger import charge
from app.services.record.texts import RoleText, store_verdict, store_written
from app.services.record.transactions import Recorder, Recording
from app.services.record.waiting import ModelTrouble, end_wait, forget_failures, lay_down_for

EVALUATOR = "loop_evaluator"
"""The name under which the verdict of a loop's own evaluator is stored."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The records on which a step is based."""

    earlier: Sequence[LoopIteration]
    now: LoopIteration


@dataclass(frozen=True, slots=True)
class _Opened:
    """A claimed iteration; `came` is the outcome of its subtask if the iteration still lacks the result."""

    claim: UUID
    now: LoopIteration
    came: Came | None


TakeStep = Callable[[LoopSteps, _Known], Awaitable[Step]]


class LoopRunning:
    """Carries out iterations.

    Args:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        workshop: provides the parts that do the work.
    """

    def __init__(self, sessions: Sessions, recorder: Recorder, workshop: Workshop) -> None:
        self._sessions = sessions
        self._recorder = recorder
        self._workshop = workshop

    async def direct(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Let the director propose in iteration `number`, and record the proposal."""
        with logfire.span("loop iteration {number}", number=number):
            opened = await self._open(recorded, number, fence)
            step = await self._take(recorded, opened.now, partial(_propose, opened.came))

            async def write(recording: Recording, row: Attempt) -> None:
                below = opened.came.usage if opened.came else Usage()
                if trouble := _passing(step, "director"):
                    await _lay_down(recording, row, step, trouble, recorded.policy, below)
                else:
                    await _record_output(recording, row, step, below)

            await self._recorder.outcome(recorded.run.id, fence, opened.claim, AttemptState.STARTED, write)

    async def evaluate(self, recorded: Recorded, number: int, fence: Fence) -> None:
        """Take the next step towards a verdict on a recorded output: run its script, or evaluate it."""
        attempt = next(each for each in recorded.attempts if each.number == number)
        with logfire.span("evaluate loop iteration {number}", number=number):
            now = await self._begin(recorded, attempt, fence)
            step = await self._take(recorded, now, _towards_a_verdict)

            async def write(recording: Recording, row: Attempt) -> None:
                if trouble := _passing(step, "evaluator"):
                    await _lay_down(recording, row, step, trouble, recorded.policy, Usage())
                else:
                    await _record_judged(recording, row, step)

            await self._recorder.outcome(
                recorded.run.id, fence, attempt.claim, AttemptState.EVALUATING, write
            )

    async def _open(self, recorded: Recorded, number: int, fence: Fence) -> _Opened:
        """Claim an iteration: a new one, one whose worker died, or one whose subtask is over."""
        run, claim = recorded.run, uuid4()
        definition, inputs = loop_of(run)
        prompt = told(fill(definition.director.description, inputs.values), said_by_humans(recorded))
        async with self._recorder.open(run.id, fence) as recording:
            row = await claim_attempt(recording, recorded, number, claim, prompt)
            now = iteration_of(number, row.output, row.details)
            exchange = awaited(now)
            came = await came_of(recording.session, exchange) if exchange else None
            if came is not None and recorded.history.attempts[-1].state is AttemptState.DELEGATED:
                tell_subtask(recording, now, came.result)
            else:
                begun = IterationStartedData(iteration=number, max_iterations=definition.max_iterations)
                recording.tell(begun, PHASE, number)
        return _Opened(claim, now, came)

    async def _begin(self, recorded: Recorded, attempt: Attempt, fence: Fence) -> LoopIteration:
        """Record that the evaluation of an output starts, and return the iteration."""
        definition, _ = loop_of(recorded.run)
        named = list(definition.evaluator.evaluators) or [EVALUATOR]
        async with self._recorder.open_claimed(recorded.run.id, fence, attempt.claim) as (recording, row):
            if row.status == AttemptState.EVALUATING:
                row.lost_workers += 1
            row.status = AttemptState.EVALUATING
            end_wait(recording)
            now = iteration_of(row.number, row.output, row.details)
            if definition.script_execution is None or now.script_output is not None:
                recording.tell(EvaluationStartedData(evaluators=named), PHASE, row.number)
        return now

    async def _take(self, recorded: Recorded, now: LoopIteration, take: TakeStep) -> Step:
        """Take a step on the recorded data; trouble with the loop's files becomes the step's outcome."""
        run = recorded.run
        definition, inputs = loop_of(run)
        async with self._sessions() as session:
            earlier = await load_earlier(session, run.id, now.iteration)
        try:
            async with self._workshop.open(run) as parts:
                bounded = replace(parts, limits=limits_of(run))
                steps = LoopSteps(bounded, definition, inputs, said_by_humans(recorded))
                return await take(steps, _Known(earlier, now))
        except (WorkspaceError, NotFoundError, OSError) as error:
            if is_outage(error):
                raise
            trouble = Trouble(
                FailureReason.CONTEXT_RETRIEVAL_FAILURE, f"the workspace cannot be used: {error}"
            )
            return Step(now, AttemptState.FAILED, AttemptClosing.ERROR, trouble)


async def _propose(came: Came | None, steps: LoopSteps, known: _Known) -> Step:
    now = known.now
    if came is not None:
        now = charged(now, came.usage, came.turns)
        if isinstance(came.result, Trouble):
            return steps.give_up(now, came.result)
        now = answered(now, came.result)
    return await steps.go_on(known.earlier, now)


async def _towards_a_verdict(steps: LoopSteps, known: _Known) -> Step:
    step = steps.run_script if steps.wants_script(known.now) else steps.judge
    return await step(known.earlier, known.now)


def _passing(step: Step, role: str) -> ModelTrouble | None:
    """Return a model's trouble if it is temporary or a person can fix it."""
    found = step.trouble
    if not isinstance(found, Trouble):
        return None
    return ModelTrouble.of(found.kind, found.message, found.retry_at, f"the model of the {role}")


async def _lay_down(
    recording: Recording, row: Attempt, step: Step, trouble: ModelTrouble, policy: RunPolicy, below: Usage
) -> None:
    """Release the iteration, so that this step starts again later.

    The interruption uses up no turn, but what it consumed is charged.
    """
    role = ModelRole.JUDGE if row.status == AttemptState.EVALUATING else ModelRole.DIRECTOR
    before = Usage.model_validate(row.usage)
    await charge(recording, row, role, step.iteration.usage.total.less(before).less(below))
    await lay_down_for(recording, row, trouble, policy)


async def _record_output(recording: Recording, row: Attempt, step: Step, below: Usage) -> None:
    keep_step(row, step)
    forget_failures(row)
    await _charge(recording, row, step, ModelRole.DIRECTOR, below)
    if step.asks is not None:
        return
    spec = AgentSpec.model_validate(recording.run.agent)
    if step.iteration.output is not None:
        director = step.iteration.times.director or 0
        written = RoleText(step.iteration.output, "director", spec.model, spec, director / 1000)
        store_written(recording, row, written)
        tell_directed(recording, step)
    if step.trouble is not None or step.closing is AttemptClosing.HUMAN:
        row.completed_at = datetime.now(UTC)
    tell_trouble(recording, step)


async def _record_judged(recording: Recording, row: Attempt, step: Step) -> None:
    before = row.details or {}
    keep_step(row, step)
    forget_failures(row)
    await _charge(recording, row, step, ModelRole.JUDGE)
    if step.state is not AttemptState.PRODUCED:
        row.completed_at = datetime.now(UTC)
    if "scriptOutput" not in before:
        tell_script(recording, step)
    await _store_verdict(recording, row, step)
    tell_trouble(recording, step)


async def _store_verdict(recording: Recording, row: Attempt, step: Step) -> None:
    evaluation = step.iteration.evaluation
    if evaluation is None:
        return
    result = EvaluationResult(
        evaluator_name=EVALUATOR,
        category=EvaluationCategory.FUNCTIONALITY,
        passed=evaluation.success,
        score=1.0 if evaluation.success else 0.0,
        feedback=evaluation.feedback,
        metadata=evaluation.details.model_dump(mode="json") if evaluation.details else {},
        duration_ms=step.iteration.times.evaluator,
        trace_id=current_trace_id(),
    )
    await store_verdict(recording, row, result)
    tell_judged(recording, step)


async def _charge(
    recording: Recording, row: Attempt, step: Step, role: ModelRole, below: Usage | None = None
) -> None:
    """Charge what the iteration has consumed since it was last recorded, except a subtask's share `below`."""
    before, now = Usage.model_validate(row.usage), step.iteration.usage.total
    await charge(recording, row, role, now.less(before).less(below or Usage()))
    row.usage = now.model_dump(mode="json")
