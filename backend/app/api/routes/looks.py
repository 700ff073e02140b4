"""The route that shows unfinished work."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.api.routes.attempts import Number
from app.schemas.api.attempts import UnfinishedDiff
from app.schemas.runs import PhaseOfRun

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])


@router.get(
    "/runs/{run_id}/attempts/{phase}/{number}/diff/unfinished",
    summary="Show what an agent has changed so far",
)
async def show_unfinished_diff(
    run_id: UUID,
    phase: PhaseOfRun,
    number: Number,
    services: Services,
    who: Viewer,
    candidate: Annotated[int, Query(ge=0, le=1_000)] = 0,
) -> UnfinishedDiff:
    """Asks the worker for the workspace of its agent at work; the response may take some seconds."""
    return await services.looks.look(run_id, phase, number, candidate)
