"""Routes of sprints: start, show, cancel, attempts, diffs, results."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from app.api.edge.access import Operator, Services, Viewer
from app.api.edge.idempotency import Repeatable
from app.schemas.api.sprints import (
    AttemptDetail,
    AttemptDiff,
    AttemptView,
    SprintCancel,
    SprintCreate,
    SprintDetail,
    SprintFork,
    SprintPause,
)
from app.schemas.runs import PhaseOfRun
from app.schemas.text import CleanLine
from app.services.review.results import Against

router = APIRouter(prefix="/api/v1", tags=["sprints"])

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

_FileName = Annotated[CleanLine, Field(min_length=1, max_length=20_000)]
_PLAIN: dict[int | str, dict[str, Any]] = {200: {"content": {"text/x-diff": {"schema": {"type": "string"}}}}}
_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/x-git-bundle": {"schema": {"type": "string", "format": "binary"}}}}
}


class DiffQuery(BaseModel):
    """What is compared."""

    against: Against = Against.BASE
    path: list[_FileName] = Field(
        default=[], max_length=100, description="Only these files, and these whole."
    )


class ResultView(BaseModel):
    """Where the result is; `is_final` is false while the gates have not let it through."""

    branch: str
    base_commit: str
    commit: str
    is_final: bool
    patch: str
    bundle: str


@router.post("/sprints", status_code=201, response_model=SprintDetail, summary="Start a sprint")
async def start_sprint(
    body: SprintCreate, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Import the source and start; the sprint goes on in a worker.

    `source.notes` says what was found, such as uncommitted changes, which are not part of the sprint.
    """
    return await repeatable.answer(lambda once: services.sprints.start(body, who.name, once), status=201)


@router.get("/sprints/{sprint_id}", summary="Show a sprint with its attempts, verdicts and escalations")
async def show_sprint(sprint_id: UUID, services: Services, who: Viewer) -> SprintDetail:
    """Everything but prompts, diffs and events."""
    return await services.queries.get(sprint_id)


@router.post("/sprints/{sprint_id}/cancel", response_model=SprintDetail, summary="Cancel a sprint")
async def cancel_sprint(
    sprint_id: UUID,
    services: Services,
    who: Operator,
    repeatable: Repeatable,
    body: SprintCancel | None = None,
) -> Response:
    """Stop the agent and end the sprint; what was recorded stays."""
    reason = body.reason if body else ""
    return await repeatable.answer(lambda once: services.sprints.cancel(sprint_id, reason, who.name, once))


@router.post("/sprints/{sprint_id}/pause", response_model=SprintDetail, summary="Pause a sprint")
async def pause_sprint(
    sprint_id: UUID,
    services: Services,
    who: Operator,
    repeatable: Repeatable,
    body: SprintPause | None = None,
) -> Response:
    """Stop the agent or the evaluators and hold the sprint; the attempt that is interrupted is not used up.

    `status` stays what it was. A human who is asked can decide meanwhile; the sprint goes on when resumed.
    """
    reason = body.reason if body else ""
    return await repeatable.answer(lambda once: services.pauses.pause(sprint_id, reason, who.name, once))


@router.post("/sprints/{sprint_id}/resume", response_model=SprintDetail, summary="Resume a paused sprint")
async def resume_sprint(
    sprint_id: UUID, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Go on from where it was paused."""
    return await repeatable.answer(lambda once: services.pauses.resume(sprint_id, who.name, once))


@router.post(
    "/sprints/{sprint_id}/fork",
    status_code=201,
    response_model=SprintDetail,
    summary="Start a sprint with what an attempt left",
)
async def fork_sprint(
    sprint_id: UUID, body: SprintFork, services: Services, who: Operator, repeatable: Repeatable
) -> Response:
    """Begin a new sprint in the attempt's phase, with its files; `forked_from` records where it came from.

    The other sprint is not touched, however it stands. Its reviewers' guidance, what failed in the attempt
    and the guidance given here are pinned in the prompts.
    """
    return await repeatable.answer(
        lambda once: services.forks.fork(sprint_id, body, who.name, once), status=201
    )


@router.get("/sprints/{sprint_id}/attempts", summary="List a sprint's attempts with their verdicts")
async def list_attempts(sprint_id: UUID, services: Services, who: Viewer) -> list[AttemptView]:
    """In the order of phases and numbers."""
    return await services.queries.attempts(sprint_id)


@router.get(
    "/sprints/{sprint_id}/attempts/{phase}/{number}",
    summary="Show an attempt with its prompt and candidates",
)
async def show_attempt(
    sprint_id: UUID, phase: PhaseOfRun, number: Number, services: Services, who: Viewer
) -> AttemptDetail:
    """The prompt is exactly what the agent was given."""
    return await services.queries.attempt(sprint_id, phase, number)


@router.get(
    "/sprints/{sprint_id}/attempts/{phase}/{number}/diff",
    response_model=AttemptDiff,
    summary="Show a diff",
    responses=_PLAIN,
)
async def show_diff(
    sprint_id: UUID,
    phase: PhaseOfRun,
    number: Number,
    services: Services,
    who: Viewer,
    query: Annotated[DiffQuery, Query()],
    accept: Annotated[str, Header()] = "",
) -> Response:
    """File by file as JSON; with `Accept: text/plain` or `text/x-diff` as one unified diff.

    What was cut can be had whole: name the files in `path` (repeatable), as the diff shows them.
    """
    if "text/plain" in accept or "text/x-diff" in accept:
        return PlainTextResponse(await services.results.diff_text(sprint_id, phase, number, query.against))
    diff = await services.results.diff(sprint_id, phase, number, query.against, query.path)
    return Response(diff.model_dump_json(), media_type="application/json")


@router.get("/sprints/{sprint_id}/result", summary="Where a sprint's result is")
async def show_result(sprint_id: UUID, services: Services, who: Viewer) -> ResultView:
    """The newest output, also while the gates have not let it through."""
    found = await services.results.result(sprint_id)
    here = f"/api/v1/sprints/{sprint_id}/result"
    return ResultView(
        branch=found.branch,
        base_commit=found.base_commit,
        commit=found.commit,
        is_final=found.is_final,
        patch=f"{here}.patch",
        bundle=f"{here}.bundle",
    )


@router.get(
    "/sprints/{sprint_id}/result.patch",
    summary="The result as a patch",
    response_class=Response,
    responses=_PLAIN,
)
async def result_patch(sprint_id: UUID, services: Services, who: Viewer) -> Response:
    """For `git apply`."""
    return Response(await services.results.patch(sprint_id), media_type="text/x-diff; charset=utf-8")


@router.get(
    "/sprints/{sprint_id}/result.bundle",
    summary="The result as a bundle",
    response_class=Response,
    responses=_BINARY,
)
async def result_bundle(sprint_id: UUID, services: Services, who: Viewer) -> Response:
    """For `git fetch FILE BRANCH`; the header `X-Branch` names the branch."""
    result, bundle = await services.results.bundle(sprint_id)
    headers = {
        "X-Branch": result.branch,
        "Content-Disposition": f'attachment; filename="{str(sprint_id)[:8]}.bundle"',
    }
    return Response(bundle, media_type="application/x-git-bundle", headers=headers)
