"""Routes about the service itself."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from app.api.edge.access import Services, Viewer
from app.core.websocket_events import EVENT_ADAPTER
from app.services.access.status import Info, Readiness

router = APIRouter(tags=["service"])


@router.get("/healthz", summary="The process answers")
async def health() -> dict[str, str]:
    """Says nothing about the database; see /readyz."""
    return {"status": "ok"}


@router.get("/readyz", summary="The service can work", responses={503: {"model": Readiness}})
async def ready(services: Services) -> Response:
    """503 while the database cannot be reached."""
    found = await services.status.readiness()
    return JSONResponse(found.model_dump(mode="json"), 200 if found.ready else 503)


@router.get("/api/v1/info", summary="What this service is")
async def info(services: Services, who: Viewer) -> Info:
    """Version and defaults."""
    return services.status.info


@router.get("/api/v1/events/schema", summary="JSON Schema of the events")
async def event_schema(who: Viewer) -> JSONResponse:
    """One schema for WebSocket, Server-Sent Events and HTTP."""
    return JSONResponse(EVENT_ADAPTER.json_schema(mode="serialization"))
