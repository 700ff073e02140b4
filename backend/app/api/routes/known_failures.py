"""Routes of known failures: list them, and remove some."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.edge.access import Reviewer, Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.known_failures import (
    KnownFailureList,
    KnownFailuresNamed,
    KnownFailuresRemoved,
)

router = APIRouter(route_class=StrictRoute, prefix="/api/v1/known-failures", tags=["known failures"])


@router.get("", summary="List tests that may fail at the base")
async def list_known_failures(
    services: Services, who: Viewer, project: Annotated[str | None, Query(max_length=4096)] = None
) -> KnownFailureList:
    """Lists what reviewers added when they resolved escalations, not what `phaserunner.toml` names."""
    return await services.known_failures.of_project(project)


@router.delete("", summary="Remove known failures of a project")
async def remove_known_failures(
    named: Annotated[KnownFailuresNamed, Query()], services: Services, who: Reviewer
) -> KnownFailuresRemoved:
    """Later attempts ask about these tests again. 404 if the project has none of them."""
    return await services.known_failures.remove(named)
