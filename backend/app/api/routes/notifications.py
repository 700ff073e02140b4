"""Routes of notifications: list receivers, test one, and decide by a signed link."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.decision_page import DecisionRoute, confirm_page, decided_page
from app.api.edge.problems import LINKS
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.notifications import NotificationTest, ReceiverList

router = APIRouter(route_class=StrictRoute, tags=["notifications"])
links = APIRouter(route_class=DecisionRoute)
"""Links in messages, to which mail servers may add parameters."""


@router.get("/api/v1/notifications", summary="List receivers of notifications")
async def list_receivers(services: Services, who: Viewer) -> ReceiverList:
    """Receivers are in the operator's file; their addresses are not shown."""
    return services.notifications.receivers()


@router.post("/api/v1/notifications/{name}/test", summary="Send a test to a receiver")
async def run_notification_test(name: str, services: Services, who: Operator) -> NotificationTest:
    """The response contains the receiver's own reply."""
    return await services.notifications.test(name)


@links.get(f"{LINKS}{{token}}", include_in_schema=False)
async def show_decision(token: str, services: Services) -> HTMLResponse:
    """Show what a signed link would decide. This request decides nothing."""
    return confirm_page(await services.decision_links.show(token))


@links.post(f"{LINKS}{{token}}", include_in_schema=False)
async def make_decision(token: str, services: Services) -> HTMLResponse:
    """Decide as the signed link says. The signature replaces a token."""
    return decided_page(await services.decision_links.decide(token))


router.include_router(links)
