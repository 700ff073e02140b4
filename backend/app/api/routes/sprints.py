"""Routes of sprints: start, list, show."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.run_details import RunDetail
from app.schemas.api.run_lists import RunQuery
from app.schemas.api.runs import RunPage
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunKind

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["sprints"])


@router.post("/sprints", status_code=201, response_model=RunDetail, summary="Start a sprint")
async def start_sprint(
    body: SprintCreate, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Imports the source and starts. The sprint continues in a worker.

    `source.notes` mentions what the import left out, such as uncommitted changes.
    """
    services.agents.require_known(body.agent)
    return await repeatable.respond(lambda once: services.sprints.start(body, who.name, once), status=201)


@router.get("/sprints", summary="List sprints, newest first")
async def list_sprints(query: Annotated[RunQuery, Query()], services: Services, who: Viewer) -> RunPage:
    """Takes the filters and orders of `/runs`."""
    return await services.lists.page_of(RunKind.SPRINT, query)


@router.get("/sprints/{sprint_id}", summary="Show a sprint with its attempts, verdicts and escalations")
async def show_sprint(sprint_id: UUID, services: Services, who: Viewer) -> RunDetail:
    """Shows the same as `/runs/{id}`, but only for sprints."""
    return await services.sprints.get(sprint_id)
