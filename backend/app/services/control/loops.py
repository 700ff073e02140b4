"""Creates director-evaluator loops from requests, and shows them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import InvalidInputError
from app.db.models import Attempt, Run
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.loop.context import bind
from app.runners.loop.panel import unknown_evaluators
from app.runners.loop.steps import PHASE, loop_policy
from app.schemas.api.loops import IterationView, LoopCreate, LoopDetail, LoopOutcome, SubtaskNode
from app.schemas.api.policies import PolicyView
from app.schemas.loop.results import ErrorDetails, LoopIteration
from app.schemas.runs import AttemptState, RunKind, RunPolicy, RunStatus, Usage
from app.schemas.workspaces import EmptySource
from app.services.control.intake import Intake, NewRun
from app.services.control.kinds import RunsOfKind, load_whole
from app.services.control.policies import with_budget
from app.services.read.views import escalation_view, run_view
from app.services.record.iterations import definition_document, history_of, loop_of
from app.services.record.loop_results import result_of_run

LoopService = RunsOfKind[LoopCreate, LoopDetail]


def loop_service(intake: Intake, defaults: RunPolicy, registry: EvaluatorRegistry) -> LoopService:
    """Return the service that starts and shows loops.

    Args:
        intake: starts runs.
        defaults: the policy for whatever the definition leaves out.
        registry: the evaluators that a definition may name.
    """

    def prepare(request: LoopCreate, actor: str) -> NewRun:
        try:
            bound = bind(request.definition, request.inputs, query=request.query)
        except ValueError as error:
            raise InvalidInputError(str(error), field="inputs") from error
        unknown = unknown_evaluators(request.definition.evaluator.evaluators, registry)
        # A workspace's project file may add evaluators, so unknown names cannot be refused yet.
        if unknown and isinstance(request.source, EmptySource):
            raise InvalidInputError(unknown, field="definition.evaluator.evaluators")
        return NewRun(
            kind=RunKind.DIRECTOR_LOOP,
            phases=[PHASE],
            source=request.source,
            goal=bound.user_query,
            name=request.name,
            policy=loop_policy(with_budget(defaults, request.budget), request.definition),
            agent=request.agent,
            definition=definition_document(request.definition, request.inputs, request.query),
            actor=actor,
        )

    return RunsOfKind(kind=RunKind.DIRECTOR_LOOP, prepare=prepare, view=show_loop, intake=intake)


async def show_loop(session: AsyncSession, run: Run) -> LoopDetail:
    """Show a loop with its complete history."""
    whole = await load_whole(session, run)
    attempts = whole.attempts
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
        # The history is in another field of the response, so the error does not repeat it.
        error=result.error.model_copy(update={"details": ErrorDetails()}) if result.error else None,
    )
