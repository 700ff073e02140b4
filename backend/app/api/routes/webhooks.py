"""Routes of webhook deliveries: list, retry."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.webhooks import DeliveryPage, DeliveryStatus, DeliveryView

router = APIRouter(route_class=StrictRoute, prefix="/api/v1/webhooks", tags=["webhooks"])


@router.get("/deliveries", summary="List webhook deliveries, newest first")
async def list_deliveries(
    services: Services,
    who: Viewer,
    status: DeliveryStatus | None = None,
    run_id: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> DeliveryPage:
    """With `status=failed`, lists deliveries that were given up, with the reason."""
    return await services.deliveries.page(status=status, run_id=run_id, limit=limit, cursor=cursor)


@router.post("/deliveries/{delivery_id}/retry", summary="Retry a delivery")
async def retry_delivery(delivery_id: UUID, services: Services, who: Operator) -> DeliveryView:
    """A worker sends it again as soon as possible, with a new set of tries. Repeating this is safe."""
    return await services.deliveries.retry(delivery_id)
