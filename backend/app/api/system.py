"""Routes about the service itself, and the page that says where things are."""

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse

from app.api.access import Services, Viewer
from app.core.websocket_events import EVENT_ADAPTER
from app.services.status import Info, Readiness

router = APIRouter(tags=["service"])

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>PhaseRunner</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem;
         color-scheme: light dark }
  code { font-family: ui-monospace, monospace }
</style>
<h1>PhaseRunner</h1>
<p>The service runs. This version is used from the command line and over HTTP.</p>
<ul>
  <li><code>phaserunner run "GOAL" --repo PATH</code> starts a sprint and shows it live</li>
  <li><code>phaserunner escalations</code> lists what waits for a human</li>
  <li><a href="/api/v1/sprints">/api/v1/sprints</a>, <a href="/api/v1/escalations">/api/v1/escalations</a>,
      <a href="/api/v1/evaluators">/api/v1/evaluators</a></li>
  <li><a href="/openapi.json">/openapi.json</a> describes the API,
      <a href="/api/v1/events/schema">/api/v1/events/schema</a> the events</li>
</ul>
"""


@router.get("/", response_class=HTMLResponse, include_in_schema=False)
async def index() -> HTMLResponse:
    """Say where things are."""
    return HTMLResponse(_PAGE)


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
