"""Routes that change a run of any kind: cancel, pause, resume, fork."""

from uuid import UUID

from fastapi import APIRouter, Response

from app.api.edge.access import Operator, Services
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.run_details import RunDetail, RunFork
from app.schemas.api.runs import RunCancel, RunPause

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])


@router.post("/runs/{run_id}/cancel", response_model=RunDetail, summary="Cancel a run")
async def cancel_run(
    run_id: UUID, services: Services, who: Operator, repeatable: Repeatable, body: RunCancel | None = None
) -> Response:
    """Stops the agent and ends the run with its subtasks. Everything recorded stays."""
    reason = body.reason if body else ""
    return await repeatable.respond(lambda once: services.cancels.cancel(run_id, reason, who.name, once))


@router.post("/runs/{run_id}/pause", response_model=RunDetail, summary="Pause a run")
async def pause_run(
    run_id: UUID, services: Services, who: Operator, repeatable: Repeatable, body: RunPause | None = None
) -> Response:
    """Stops the agent or the evaluators and holds the run. The interrupted attempt is not used up.

    `status` does not change. Reviewers can still resolve an escalation; the run continues when resumed.
    """
    reason = body.reason if body else ""
    return await repeatable.respond(lambda once: services.pauses.pause(run_id, reason, who.name, once))


@router.post("/runs/{run_id}/resume", response_model=RunDetail, summary="Resume a paused run")
async def resume_run(run_id: UUID, services: Services, who: Operator, repeatable: Repeatable) -> Response:
    """Continues from where the run was paused. A run that waits for its model tries again at once."""
    return await repeatable.respond(lambda once: services.pauses.resume(run_id, who.name, once))


@router.post(
    "/runs/{run_id}/fork",
    status_code=201,
    response_model=RunDetail,
    summary="Start a sprint from an attempt of another one",
)
async def fork_run(
    run_id: UUID, body: RunFork, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Starts a new sprint in the attempt's phase with the attempt's files; `forked_from` names the attempt.

    The original sprint does not change, whatever its status. Prompts of the new sprint contain the reviewers'
    guidance of the original, the issues of the attempt, and the guidance given here.
    """
    if body.agent is not None:
        services.agents.require_known(body.agent)
    return await repeatable.respond(
        lambda once: services.forks.fork(run_id, body, who.name, once), status=201
    )
