"""Deprecated paths: `/sprints/{id}/…` for what is now `/runs/{id}/…`. They work for runs of every kind."""

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.api.edge.strict_json import StrictRoute
from app.api.routes import attempts, run_control

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["sprints"])

NAMES = {
    "cancel_run": "cancel_sprint",
    "pause_run": "pause_sprint",
    "resume_run": "resume_sprint",
    "fork_run": "fork_sprint",
    "list_attempts": "list_sprint_attempts",
    "show_attempt": "show_sprint_attempt",
    "show_diff": "show_sprint_diff",
    "show_result": "show_sprint_result",
    "result_patch": "sprint_result_patch",
    "result_bundle": "sprint_result_bundle",
}
"""Operation names of the aliases, by the names of the original operations."""


def _add_alias(route: APIRoute) -> None:
    router.add_api_route(
        route.path.removeprefix(router.prefix).replace("/runs/", "/sprints/", 1),
        route.endpoint,
        methods=sorted(route.methods or ()),
        name=NAMES[route.name],
        status_code=route.status_code,
        response_model=route.response_model,
        response_class=route.response_class,
        responses=route.responses,
        summary=route.summary,
        description=f"Use `{route.path}` instead.",
        deprecated=True,
    )


for _route in (*run_control.router.routes, *attempts.router.routes):
    if isinstance(_route, APIRoute):
        _add_alias(_route)
