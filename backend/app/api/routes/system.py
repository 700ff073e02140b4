"""Routes about the service itself."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.core.security import Role
from app.core.websocket_events import EVENT_ADAPTER
from app.services.access.status import Info, Readiness

router = APIRouter(route_class=StrictRoute, tags=["service"])
probes = APIRouter()


class Caller(BaseModel):
    """Who sent the request. Each role may do what the roles before it may."""

    name: str
    role: Role


@probes.get("/healthz", summary="Check that the process is alive")
async def health() -> dict[str, str]:
    """Does not check the database; see `/readyz`."""
    return {"status": "ok"}


@probes.get("/readyz", summary="Check that the service can work", responses={503: {"model": Readiness}})
async def ready(services: Services) -> Response:
    """Returns 503 while the database cannot be reached."""
    found = await services.status.readiness()
    return JSONResponse(found.model_dump(mode="json"), 200 if found.ready else 503)


router.include_router(probes)


@router.get("/api/v1/info", summary="Show version and defaults")
async def info(services: Services, who: Viewer) -> Info:
    """Shows the version of the service and its defaults."""
    return services.status.info


@router.get("/api/v1/me", summary="Show who the caller is and what their role allows")
async def me(who: Viewer) -> Caller:
    """The name and role behind the token. Without tokens everyone is admin."""
    return Caller(name=who.name, role=who.role)


@router.get("/api/v1/events/schema", summary="Get the JSON Schema of events")
async def event_schema(who: Viewer) -> JSONResponse:
    """The same schema applies to WebSocket, Server-Sent Events and HTTP."""
    return JSONResponse(EVENT_ADAPTER.json_schema(mode="serialization"))
