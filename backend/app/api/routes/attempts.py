"""Routes of the work in a run: its attempts, their diffs, and the result."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import BaseModel, Field

from app.api.edge.access import Services, Viewer
from app.api.edge.negotiation import preferred
from app.api.edge.strict_json import StrictRoute
from app.core.errors import InvalidInputError
from app.schemas.api.attempts import AttemptDetail, AttemptDiff, AttemptView
from app.schemas.runs import PhaseOfRun
from app.schemas.text import CleanLine
from app.services.review.results import Against

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

_FileName = Annotated[CleanLine, Field(min_length=1, max_length=20_000)]
_PLAIN: dict[int | str, dict[str, Any]] = {200: {"content": {"text/x-diff": {"schema": {"type": "string"}}}}}
_JSON = "application/json"
_TEXTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {"schema": {"type": "string"}} for kind in ("text/plain", "text/x-diff")}}
}
_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-git-bundle": {"schema": {"type": "string", "format": "binary"}}}}
}


class DiffQuery(BaseModel):
    """What a diff compares."""

    against: Against = Against.BASE
    path: list[_FileName] = Field(
        default=[], max_length=100, description="Shows only these files, without cutting them."
    )
    candidate: int | None = Field(
        default=None, ge=0, le=2**31 - 1, description="Index of a candidate; by default the chosen one."
    )
    context: int = Field(
        default=3,
        ge=0,
        le=1_000_000,
        description="Unchanged lines around each change of the files in `path`.",
    )


class ResultView(BaseModel):
    """The newest output of a run; `is_final` is false until the gates pass it.

    `patch` and `bundle` are the paths for downloading it.
    """

    branch: str
    base_commit: str
    commit: str
    is_final: bool
    patch: str
    bundle: str


@router.get("/runs/{run_id}/attempts", summary="List a run's attempts with their verdicts")
async def list_attempts(run_id: UUID, services: Services, who: Viewer) -> list[AttemptView]:
    """Ordered by phase and number."""
    return await services.queries.attempts(run_id)


@router.get(
    "/runs/{run_id}/attempts/{phase}/{number}", summary="Show an attempt with its prompt and candidates"
)
async def show_attempt(
    run_id: UUID, phase: PhaseOfRun, number: Number, services: Services, who: Viewer
) -> AttemptDetail:
    """`prompt` is exactly what the agent received."""
    return await services.queries.attempt(run_id, phase, number)


@router.get(
    "/runs/{run_id}/attempts/{phase}/{number}/diff",
    response_model=AttemptDiff,
    summary="Show an attempt's diff",
    responses=_TEXTS,
)
async def show_diff(
    run_id: UUID,
    phase: PhaseOfRun,
    number: Number,
    services: Services,
    who: Viewer,
    query: Annotated[DiffQuery, Query()],
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Returns JSON file by file, or one unified diff if `Accept` prefers `text/plain` or `text/x-diff`.

    The type with the highest q-value is preferred, among equals the one that stands first. To get the whole
    of a file that was cut, name it in `path` (repeatable) as the diff shows it. The unified diff is that of
    all files, so it takes neither `path` nor `context`.
    """
    kind = preferred(accept, (_JSON, *_TEXTS[200]["content"]))
    if kind != _JSON:
        _require_whole(query)
        text = await services.results.diff_text(run_id, phase, number, query.against, query.candidate)
        return Response(text, media_type=f"{kind}; charset=utf-8")
    diff = await services.results.diff(
        run_id,
        phase,
        number,
        query.against,
        query.path,
        candidate=query.candidate,
        context=query.context,
    )
    return Response(diff.model_dump_json(), media_type=_JSON)


def _require_whole(query: DiffQuery) -> None:
    for name in ("path", "context"):
        if getattr(query, name) != DiffQuery.model_fields[name].default:
            raise InvalidInputError("works only with JSON; the unified diff is that of all files", field=name)


@router.get("/runs/{run_id}/result", summary="Show where a run's result is")
async def show_result(run_id: UUID, services: Services, who: Viewer) -> ResultView:
    """Names the newest output, also before the gates pass it."""
    found = await services.results.result(run_id)
    here = f"/api/v1/runs/{run_id}/result"
    return ResultView(
        branch=found.branch,
        base_commit=found.base_commit,
        commit=found.commit,
        is_final=found.is_final,
        patch=f"{here}.patch",
        bundle=f"{here}.bundle",
    )


@router.get(
    "/runs/{run_id}/result.patch",
    summary="Download the result as a patch",
    response_class=Response,
    responses=_PLAIN,
)
async def result_patch(run_id: UUID, services: Services, who: Viewer) -> Response:
    """Apply it with `git apply`."""
    return Response(await services.results.patch(run_id), media_type="text/x-diff; charset=utf-8")


@router.get(
    "/runs/{run_id}/result.bundle",
    summary="Download the result as a Git bundle",
    response_class=Response,
    responses=_BINARY,
)
async def result_bundle(run_id: UUID, services: Services, who: Viewer) -> Response:
    """Fetch from it with `git fetch FILE BRANCH`; the header `X-Branch` names the branch."""
    result, bundle = await services.results.bundle(run_id)
    headers = {
        "X-Branch": result.branch,
        "Content-Disposition": f'attachment; filename="{str(run_id)[:8]}.bundle"',
    }
    return Response(bundle, media_type="application/x-git-bundle", headers=headers)
