"""Routes of what a run's model requests consumed."""

from uuid import UUID

from fastapi import APIRouter

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.api.routes.attempts import Number
from app.schemas.api.usage import ModelRequestList, RunUsage
from app.schemas.runs import PhaseOfRun

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])


@router.get("/runs/{run_id}/usage", summary="Show what a run's model requests consumed")
async def show_usage(run_id: UUID, services: Services, who: Viewer) -> RunUsage:
    """In total, including subtasks, and by attempt, candidate, role and model; with the budgets."""
    return await services.usage.of_run(run_id)


@router.get(
    "/runs/{run_id}/attempts/{phase}/{number}/model-requests", summary="List the model requests of an attempt"
)
async def list_model_requests(
    run_id: UUID, phase: PhaseOfRun, number: Number, services: Services, who: Viewer
) -> ModelRequestList:
    """The time of each request and how long its response took, oldest first."""
    return await services.usage.of_attempt(run_id, phase, number)
