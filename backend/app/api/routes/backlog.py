"""Routes of the backlog: the board, its items, and limits of projects."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.backlog import (
    BacklogAdd,
    BacklogBoard,
    BacklogChange,
    BacklogIssues,
    BacklogItems,
    BacklogItemView,
    BacklogProjectChange,
    BacklogProjectView,
)

router = APIRouter(route_class=StrictRoute, prefix="/api/v1/backlog", tags=["backlog"])


@router.get("", summary="Show the board")
async def show_backlog(
    services: Services, who: Viewer, project: Annotated[str | None, Query(max_length=4096)] = None
) -> BacklogBoard:
    """Waiting items come with the reason why they have not started."""
    return await services.backlog_board.board(project)


@router.post("", status_code=201, response_model=BacklogItems, summary="Add items")
async def add_backlog_items(
    body: BacklogAdd, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Adds all items or none. An item starts when its dependencies and the project's limits allow."""
    for each in body.items:
        services.agents.require_known(each.sprint.agent)
    return await repeatable.respond(lambda once: services.backlog.add(body, who.name, once), status=201)


@router.post("/issues", status_code=201, summary="Add open issues of a repository")
async def add_backlog_issues(body: BacklogIssues, services: Services, who: Operator) -> BacklogItems:
    """Leaves out issues that have an item or a run. Repeating this is safe."""
    services.agents.require_known(body.agent)
    return await services.backlog_issues.add(body, who.name)


@router.put("/projects", summary="Pause, resume or limit a project's backlog")
async def change_backlog_project(
    body: BacklogProjectChange, services: Services, who: Operator
) -> BacklogProjectView:
    """Runs that have already started continue."""
    return await services.backlog.change_project(body, who.name)


@router.patch("/{item_id}", summary="Change a waiting item")
async def change_backlog_item(
    item_id: UUID, body: BacklogChange, services: Services, who: Operator
) -> BacklogItemView:
    """Dependencies must not form a cycle."""
    return await services.backlog.change(item_id, body)


@router.delete("/{item_id}", summary="Remove a waiting item")
async def remove_backlog_item(item_id: UUID, services: Services, who: Operator) -> BacklogItemView:
    """Items that depend on it show that it was removed."""
    return await services.backlog.remove(item_id)
