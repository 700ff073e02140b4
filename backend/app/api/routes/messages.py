"""Routes of messages to the agents of runs."""

from uuid import UUID

from fastapi import APIRouter, Response

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.messages import MessageCreate, MessageList, MessageView

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])


@router.post(
    "/runs/{run_id}/messages",
    status_code=201,
    response_model=MessageView,
    summary="Send a message to the agent",
)
async def send_message(
    run_id: UUID, body: MessageCreate, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Records a message; the agent gets it before its next model request, at its end, or in its next attempt.

    An attempt that received a message is marked as steered.
    """
    return await repeatable.respond(
        lambda once: services.messages.send(run_id, body, who.name, once), status=201
    )


@router.get("/runs/{run_id}/messages", summary="List messages to the agents of a run")
async def list_messages(run_id: UUID, services: Services, who: Viewer) -> MessageList:
    """Lists the oldest first, with the state of each."""
    return await services.messages.all(run_id)
