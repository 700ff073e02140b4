"""Starts, shows and cancels director-evaluator loops."""

from collections.abc import Sequence
from uuid import UUID

from app.core.errors import InvalidInputError
from app.db.engine import Sessions
from app.db.models import Attempt, Run
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.loop.context import bind
from app.runners.loop.panel import unknown_evaluators
from app.runners.loop.steps import PHASE, loop_policy
from app.schemas.api.loops import IterationView, LoopCreate, LoopDetail, LoopOutcome, SubtaskNode
from app.schemas.api.policies import PolicyOverrides, PolicyView
from app.schemas.loop.results import ErrorDetails, LoopIteration
from app.schemas.runs import AttemptState, RunKind, RunPolicy, RunStatus, Usage
from app.schemas.workspaces import EmptySource
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Intake
from app.services.control.kinds import NewRun, RunsOfKind, WholeRun
from app.services.control.sprints import with_overrides
from app.services.read.views import escalation_view, run_view
from app.services.record.iterations import definition_document, history_of, loop_of
from app.services.record.loop_results import result_of_run
from app.services.record.outbox import NO_WEBHOOKS, Outbox


class LoopService:
    """Starts, shows and cancels loops.

    Args:
        sessions: opens transactions.
        intake: takes runs in.
        defaults: the policy of a run that names nothing else.
        registry: evaluators that a definition may name.
        outbox: tells other services.
    """

    def __init__(
        self,
        sessions: Sessions,
        intake: Intake,
        defaults: RunPolicy,
        registry: EvaluatorRegistry,
        outbox: Outbox = NO_WEBHOOKS,
    ) -> None:
        self._defaults = defaults
        self._registry = registry
        self._door = RunsOfKind(
            kind=RunKind.DIRECTOR_LOOP,
            phase=PHASE,
            view=show_loop,
            sessions=sessions,
            intake=intake,
            outbox=outbox,
        )
        self.get = self._door.get
        self.cancel = self._door.cancel

    async def start(self, request: LoopCreate, actor: str, once: Once = UNKEYED) -> LoopDetail:
        """Start a loop; see `RunsOfKind.start`.

        Raises:
            AnsweredError: the same request started a loop in the meantime.
            InvalidInputError, WorkspaceError: inputs are missing, or the source cannot be used.
        """
        try:
            bound = bind(request.definition, request.inputs, query=request.query)
        except ValueError as error:
            raise InvalidInputError(str(error), field="inputs") from error
        unknown = unknown_evaluators(request.definition.evaluator.evaluators, self._registry)
        # A workspace's own file may bring further ones.
        if unknown and isinstance(request.source, EmptySource):
            raise InvalidInputError(unknown, field="definition.evaluator.evaluators")
        policy = with_overrides(self._defaults, PolicyOverrides(budget=request.budget))
        new = NewRun(
            source=request.source,
            goal=bound.user_query,
            name=request.name,
            policy=loop_policy(policy, request.definition),
            agent=request.agent,
            definition=definition_document(request.definition, request.inputs, request.query),
            actor=actor,
        )
        return await self._door.start(new, once)


def show_loop(whole: WholeRun) -> LoopDetail:
    """Show a loop with its complete history."""
    run, attempts = whole.run, whole.attempts
    definition, _ = loop_of(run)
    kept = run.definition or {}
    history = history_of(attempts)
    return LoopDetail(
        **dict(run_view(run, attempts, whole.escalations)),
        definition=definition,
        inputs=kept["inputs"],
        query=kept["query"],
        policy=PolicyView.of(RunPolicy.model_validate(run.policy)),
        iterations=[_view(row, each) for row, each in zip(attempts, history, strict=True)],
        result=_outcome(run, attempts) if RunStatus(run.status).is_final else None,
        escalations=[escalation_view(each, run) for each in whole.escalations],
        parent_run_id=run.parent_run_id,
        subtasks=_tree(run.id, whole.descendants),
    )


def _tree(run_id: UUID, below: Sequence[Run]) -> list[SubtaskNode]:
    return [
        SubtaskNode(
            run_id=each.id, name=each.name, status=RunStatus(each.status), subtasks=_tree(each.id, below)
        )
        for each in below
        if each.parent_run_id == run_id
    ]


def _view(row: Attempt, iteration: LoopIteration) -> IterationView:
    return IterationView(
        **dict(iteration),
        status=AttemptState(row.status),
        started_at=row.started_at,
        completed_at=row.completed_at,
        lost_workers=row.lost_workers,
        consumed=Usage.model_validate(row.usage),
    )


def _outcome(run: Run, attempts: Sequence[Attempt]) -> LoopOutcome:
    result, ended_by = result_of_run(run, attempts)
    return LoopOutcome(
        final_output=result.final_output,
        final_evaluation=result.final_evaluation,
        success=result.success,
        iterations_completed=result.iterations_completed,
        ended_by=ended_by,
        # The history is beside it.
        error=result.error.model_copy(update={"details": ErrorDetails()}) if result.error else None,
    )
