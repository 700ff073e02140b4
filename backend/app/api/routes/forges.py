"""Routes of forges: sprints for issues, and the deliveries that forges sign."""

from fastapi import APIRouter, Request, Response

from app.api.edge.access import Operator, Services
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.forges import DeliveryTaken, IssueSprintCreate
from app.schemas.api.run_details import RunDetail

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["forges"])
signed = APIRouter()
"""Routes of forges, whose owners may have put anything into the query of the URL."""


@router.post(
    "/forges/issues", status_code=201, response_model=RunDetail, summary="Start a sprint for an issue"
)
async def start_issue_sprint(
    body: IssueSprintCreate, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """The issue's text becomes the goal, and its repository the source. A comment reports the start.

    The repository must be in the operator's file.
    """
    services.agents.require_known(body.agent)
    return await repeatable.respond(lambda once: services.issues.start(body, who.name, once), status=201)


@signed.post("/forges/github/webhook", status_code=202, summary="Receive a GitHub delivery")
async def take_github_delivery(request: Request, services: Services) -> DeliveryTaken:
    """Needs no token: the header `X-Hub-Signature-256` must sign the body. A worker acts on it afterwards."""
    async with services.forge_bodies.whole(request.stream()) as body:
        return await services.forge_inbox.take(request.headers, body)


@signed.post("/forges/gitlab/webhook", status_code=202, summary="Receive a GitLab delivery")
async def take_gitlab_delivery(request: Request, services: Services) -> DeliveryTaken:
    """Needs no API token: the header `X-Gitlab-Token` must hold the secret. A worker acts afterwards."""
    async with services.forge_bodies.whole(request.stream()) as body:
        return await services.forge_inbox.take_gitlab(request.headers, body)


router.include_router(signed)
