"""Builds the FastAPI application."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from app.api.edge import problems
from app.api.edge.access import ApiServices
from app.api.edge.compression import Compression
from app.api.edge.dashboard import Dashboard, with_dashboard
from app.api.edge.openapi import PROBLEMS, describe
from app.api.edge.request_checks import Recognise, RequestChecks, TokensNeeded
from app.api.routes import (
    agents,
    answers,
    attempts,
    backlog,
    escalations,
    evaluators,
    events,
    forges,
    known_failures,
    log,
    looks,
    loops,
    messages,
    metrics,
    notifications,
    results,
    run_control,
    runs,
    sprint_aliases,
    sprints,
    system,
    usage,
    webhooks,
)
from app.api.streams.endpoint import socket_routes
from app.realtime.hub import Hub
from app.realtime.reader import EventReader

_ROUTES = (
    runs,
    messages,
    run_control,
    attempts,
    looks,
    usage,
    results,
    sprints,
    sprint_aliases,
    loops,
    answers,
    backlog,
    escalations,
    known_failures,
    evaluators,
    agents,
    metrics,
    events,
    log,
    webhooks,
    notifications,
    forges,
    system,
)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Which requests are accepted: host names beside the loopback ones, and what recognises tokens.

    Without `recognise`, or while `tokens_needed` returns False, every caller is admin.
    This is only for loopback.
    """

    hosts: Collection[str] = ()
    recognise: Recognise | None = None
    tokens_needed: TokensNeeded | None = None


class _Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        return describe(self)


def create_app(
    services: ApiServices,
    hub: Hub,
    reader: EventReader,
    access: AccessRules,
    *,
    version: str,
    dashboard: Dashboard | None = None,
) -> FastAPI:
    """Build the application from the root's services; `dashboard` defaults to the installed one."""
    app = _Application(
        title="PhaseRunner",
        version=version,
        summary="Runs coding agents unattended and lets only good work through.",
        # FastAPI's documentation pages load scripts from other hosts; the service's pages load
        # nothing from other origins.
        docs_url=None,
        redoc_url=None,
        # Clients are generated from these names, which are the functions' names, so that paths can change.
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.services = services
    app.state.hub = hub
    app.state.event_reader = reader
    problems.install(app)
    for module in _ROUTES:
        app.include_router(module.router, responses=PROBLEMS)
    app.router.routes.extend(socket_routes(hub))
    app.router.default = with_dashboard(dashboard or Dashboard.find(), app.router.default)
    app.add_middleware(Compression)
    app.add_middleware(
        RequestChecks, hosts=access.hosts, recognise=access.recognise, needed=access.tokens_needed
    )
    return app
