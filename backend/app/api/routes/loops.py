"""Routes of director-evaluator loops: start, list, show, cancel."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.api.routes.loop_bodies import JSON_TYPE, XML_TYPES, read_loop
from app.schemas.api.loops import LoopDetail
from app.schemas.api.run_lists import RunQuery
from app.schemas.api.runs import RunCancel, RunPage
from app.schemas.runs import RunKind
from app.schemas.text import CleanText

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["loops"])

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON_TYPE: {"schema": {"$ref": "#/components/schemas/LoopCreate"}},
            XML_TYPES[0]: {"schema": {"type": "string"}},
        },
    }
}


class StartQuery(BaseModel):
    """What a loop starts with if the body is only its definition."""

    input: list[Annotated[CleanText, Field(max_length=50_000)]] = Field(
        default=[], max_length=100, description="`name=value` of a task input; repeatable."
    )
    query: Annotated[CleanText, Field(max_length=50_000)] = Field(
        default="", description="The user's question; by default the description."
    )
    name: Annotated[CleanText, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="The loop's name in lists."
    )


@router.post(
    "/loops", status_code=201, response_model=LoopDetail, summary="Start a loop", openapi_extra=_BODY
)
async def start_loop(
    request: Request,
    query: Annotated[StartQuery, Query()],
    services: Services,
    who: Operator,
    repeatable: Repeatable,
) -> Response:
    """Starts a loop, which continues in a worker.

    The body is the definition in XML (`docs/director-evaluator-loop.xsd`) or JSON, or an object with
    `definition`, inputs, source, agent and budget.
    """
    kind = request.headers.get("content-type", "")
    body = read_loop(kind, await request.body(), query.input, query.query, query.name)
    services.agents.require_model(body.agent, "loops")
    return await repeatable.respond(lambda once: services.loops.start(body, who.name, once), status=201)


@router.get("/loops", summary="List loops, newest first")
async def list_loops(query: Annotated[RunQuery, Query()], services: Services, who: Viewer) -> RunPage:
    """Takes the filters and orders of `/runs`."""
    return await services.lists.page_of(RunKind.DIRECTOR_LOOP, query)


@router.get("/loops/{loop_id}", summary="Show a loop with every iteration")
async def show_loop(loop_id: UUID, services: Services, who: Viewer) -> LoopDetail:
    """Shows the complete history: outputs, evaluations, script output, times, cost and contexts."""
    return await services.loops.get(loop_id)


@router.post("/loops/{loop_id}/cancel", response_model=LoopDetail, summary="Cancel a loop", deprecated=True)
async def cancel_loop(
    loop_id: UUID,
    services: Services,
    who: Operator,
    repeatable: Repeatable,
    body: RunCancel | None = None,
) -> Response:
    """Use `/api/v1/runs/{run_id}/cancel` instead; this one returns the loop with its iterations."""
    reason, show = body.reason if body else "", services.loops.show
    return await repeatable.respond(
        lambda once: services.cancels.cancel(loop_id, reason, who.name, once, show)
    )
