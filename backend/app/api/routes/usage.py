"""Route of what a run's model requests consumed."""

from uuid import UUID

from fastapi import APIRouter

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.usage import RunUsage

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])


@router.get("/runs/{run_id}/usage", summary="Show what a run's model requests consumed")
async def show_usage(run_id: UUID, services: Services, who: Viewer) -> RunUsage:
    """All together with its subtasks, and by attempt, candidate, role and model; with the budgets."""
    return await services.usage.of_run(run_id)
