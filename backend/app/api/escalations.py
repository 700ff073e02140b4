"""Routes of escalations: what waits for a human, and the decision."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from app.api.access import Reviewer, Services, Viewer
from app.api.problems import RESPONSES
from app.schemas.escalations import EscalationPage, EscalationResolve, EscalationStatus, EscalationView

router = APIRouter(prefix="/api/v1/escalations", tags=["escalations"], responses=RESPONSES)


@router.get("", summary="List escalations, oldest first")
async def list_escalations(
    services: Services,
    who: Viewer,
    status: EscalationStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> EscalationPage:
    """With `status=open`, the queue of what waits for a human."""
    return await services.escalations.page(status=status, limit=limit, cursor=cursor)


@router.get("/{escalation_id}", summary="Show an escalation")
async def show_escalation(escalation_id: UUID, services: Services, who: Viewer) -> EscalationView:
    """The evidence is with the sprint's attempt."""
    return await services.escalations.get(escalation_id)


@router.post("/{escalation_id}/resolve", response_model=EscalationView, summary="Accept, retry or reject")
async def resolve_escalation(
    escalation_id: UUID,
    body: EscalationResolve,
    request: Request,
    services: Services,
    who: Reviewer,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> Response:
    """Decide. Whoever comes second gets 409 with who decided, what and when."""

    async def act() -> tuple[int, dict[str, Any]]:
        view = await services.escalations.resolve(escalation_id, body, who.name)
        return 200, view.model_dump(mode="json")

    route = f"POST /escalations/{escalation_id}/resolve"
    status, answer = await services.idempotency.once(idempotency_key, route, await request.body(), act)
    return JSONResponse(answer, status)
