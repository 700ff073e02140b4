"""Routes of escalations: list, show, resolve."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.edge.access import Reviewer, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.escalations import EscalationPage, EscalationResolve, EscalationStatus, EscalationView
from app.schemas.api.reviews import EscalationDetail

router = APIRouter(route_class=StrictRoute, prefix="/api/v1/escalations", tags=["escalations"])


@router.get("", summary="List escalations, oldest first")
async def list_escalations(
    services: Services,
    who: Viewer,
    status: EscalationStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> EscalationPage:
    """With `status=open`, lists what waits for a human."""
    return await services.escalations.page(status=status, limit=limit, cursor=cursor)


@router.get("/{escalation_id}", summary="Show an escalation")
async def show_escalation(escalation_id: UUID, services: Services, who: Viewer) -> EscalationDetail:
    """Shows what a decision needs except the diff: evidence, history, cost and track records."""
    return await services.reviews.get(escalation_id)


@router.post("/{escalation_id}/resolve", response_model=EscalationView, summary="Accept, retry or reject")
async def resolve_escalation(
    escalation_id: UUID, body: EscalationResolve, services: Services, who: Reviewer, repeatable: Repeatable
) -> Response:
    """Records the decision. A second one gets 409 with the first decision, its time and its reviewer."""
    return await repeatable.respond(
        lambda once: services.escalations.resolve(escalation_id, body, who.name, once)
    )
