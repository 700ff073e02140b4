"""Routes of runs of every kind: lists, counts, and what to filter by."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.edge.access import Services, Viewer
from app.schemas.api.run_lists import RunCounts, RunFacets, RunFilter, RunQuery, RunScope
from app.schemas.api.sprints import SprintPage
from app.schemas.runs import RunKind

router = APIRouter(prefix="/api/v1", tags=["runs"])


@router.get("/runs", summary="List runs of every kind, newest first")
async def list_runs(query: Annotated[RunQuery, Query()], services: Services, who: Viewer) -> SprintPage:
    """Choices of one filter are alternatives (repeat the parameter); different filters narrow each other."""
    return await services.lists.page(query)


@router.get("/runs/counts", summary="Count runs by status and kind")
async def count_runs(query: Annotated[RunFilter, Query()], services: Services, who: Viewer) -> RunCounts:
    """Takes the filters of the list; leave `status` out to count every status, `kind` to count every kind."""
    return await services.lists.counts(query)


@router.get("/runs/facets", summary="What runs can be filtered by")
async def list_run_facets(query: Annotated[RunScope, Query()], services: Services, who: Viewer) -> RunFacets:
    """The kinds, projects and agents that there are, the most frequent first."""
    return await services.lists.facets(query)


@router.get("/sprints", summary="List sprints, newest first", tags=["sprints"])
async def list_sprints(query: Annotated[RunQuery, Query()], services: Services, who: Viewer) -> SprintPage:
    """Filters and order are those of `/runs`."""
    return await services.lists.page(query.model_copy(update={"kind": [RunKind.SPRINT]}))
