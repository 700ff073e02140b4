"""Routes of runs of every kind: lists, counts, filter values, and one run."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.edge.access import Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.run_details import RunDetail
from app.schemas.api.run_lists import RunCounts, RunFacets, RunFilter, RunQuery, RunScope
from app.schemas.api.runs import RunPage
from app.schemas.baseline import BaselineView

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])


@router.get("/runs", summary="List runs of every kind, newest first")
async def list_runs(query: Annotated[RunQuery, Query()], services: Services, who: Viewer) -> RunPage:
    """Values of one filter are alternatives (repeat the parameter); different filters narrow each other."""
    return await services.lists.page(query)


@router.get("/runs/counts", summary="Count runs by status and kind")
async def count_runs(query: Annotated[RunFilter, Query()], services: Services, who: Viewer) -> RunCounts:
    """Takes the filters of the list. Leave out `status` to count every status, `kind` to count every kind."""
    return await services.lists.counts(query)


@router.get("/runs/facets", summary="List the values that runs can be filtered by")
async def list_run_facets(query: Annotated[RunScope, Query()], services: Services, who: Viewer) -> RunFacets:
    """Kinds, projects and agents with their number of runs, most frequent first."""
    return await services.lists.facets(query)


@router.get("/runs/{run_id}", summary="Show a run with its attempts, verdicts and escalations")
async def show_run(run_id: UUID, services: Services, who: Viewer) -> RunDetail:
    """Shows everything except prompts, diffs and events.

    `/loops/{id}` adds the iterations of a loop, and `/answers/{id}` the result of an answer.
    """
    return await services.queries.get(run_id)


@router.get("/runs/{run_id}/baseline", summary="Show what the base's tests did before the run began")
async def show_baseline(run_id: UUID, services: Services, who: Viewer) -> BaselineView:
    """Names tests that pass, are skipped, fail or are flaky, with the message and signature of each failure.

    A run has no baseline until it is measured, and none if no test gate compares with the base.
    """
    return await services.queries.baseline(run_id)
