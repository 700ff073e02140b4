"""Routes of escalations: list, show, resolve."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.edge.access import Reviewer, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.escalations import (
    EscalationAssign,
    EscalationPage,
    EscalationQuery,
    EscalationResolve,
    EscalationView,
)
from app.schemas.api.reviews import EscalationDetail

router = APIRouter(route_class=StrictRoute, prefix="/api/v1/escalations", tags=["escalations"])


@router.get("", summary="List escalations, oldest first")
async def list_escalations(
    query: Annotated[EscalationQuery, Query()], services: Services, who: Viewer
) -> EscalationPage:
    """With `status=open`, lists what waits for a person. Repeat a filter to allow several values."""
    return await services.escalations.page(query)


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


@router.post("/{escalation_id}/assign", summary="Take an escalation for yourself")
async def assign_escalation(
    escalation_id: UUID, services: Services, who: Reviewer, body: EscalationAssign | None = None
) -> EscalationView:
    """Others see who looks after it. If another reviewer has it: 409, unless `take_over` is set."""
    return await services.escalations.assign(escalation_id, body or EscalationAssign(), who.name)


@router.delete("/{escalation_id}/assign", summary="Release an escalation")
async def release_escalation(escalation_id: UUID, services: Services, who: Reviewer) -> EscalationView:
    """Only the reviewer who has it can release it."""
    return await services.escalations.release(escalation_id, who.name)
