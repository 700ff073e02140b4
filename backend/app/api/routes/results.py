"""Routes of a run's result for its source: changed files, a trial merge, and a branch."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from app.api.edge.access import Operator, Reviewer, Services, Viewer
from app.api.edge.strict_json import StrictRoute
from app.schemas.api.result_checks import ResultCheckView, ResultRecheck
from app.schemas.text import CleanLine
from app.schemas.workspaces import FileStatus
from app.workspaces.sources.merging import MergeState

router = APIRouter(route_class=StrictRoute, prefix="/api/v1", tags=["runs"])

_BranchName = Annotated[CleanLine, Field(min_length=1, max_length=200)]


class ChangedFile(BaseModel):
    """A file that a result changes. Binary files have no line counts."""

    path: str
    old_path: str | None = Field(description="The path before, if the file was renamed.")
    status: FileStatus
    additions: int
    deletions: int
    binary: bool


class ResultFiles(BaseModel):
    """The files that a result changes, with their line counts."""

    files: list[ChangedFile]
    additions: int
    deletions: int
    base_commit: str
    commit: str


class MergeQuery(BaseModel):
    """The branch for a trial merge."""

    branch: _BranchName | None = Field(
        default=None, description="By default the branch that the run started from."
    )


class MergeView(BaseModel):
    """What merging the result into a branch would do at the moment.

    Attributes:
        branch: the branch; `HEAD` stands for the default branch of a remote repository, or a detached head.
        commit: the commit that the branch points to.
        moved: whether the branch no longer points to the commit from which the run started.
        state: `clean`, `conflicts`, or `contained` if the branch already has every change.
        conflicts: the files in conflict.
        checked_at: when the service looked at the source.
    """

    branch: str
    commit: str
    moved: bool
    state: MergeState
    conflicts: list[str]
    checked_at: datetime


class BranchCreate(BaseModel):
    """The name of the new branch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    branch: _BranchName | None = Field(
        default=None, description="By default `phaserunner/` and the beginning of the run's id."
    )


class BranchView(BaseModel):
    """A result as a branch of the local repository it came from."""

    repository: str = Field(description="The path of the repository.")
    branch: str
    commit: str
    created: bool = Field(description="False if the branch already pointed to the result.")


@router.get("/runs/{run_id}/result/files", summary="List the files that a run's result changes")
async def list_result_files(run_id: UUID, services: Services, who: Viewer) -> ResultFiles:
    """Compares the newest output with the run's base. For the changes themselves see the attempt's diff."""
    found = await services.results.files(run_id)
    return ResultFiles(
        files=[ChangedFile.model_validate(each, from_attributes=True) for each in found.files],
        additions=found.additions,
        deletions=found.deletions,
        base_commit=found.base_commit,
        commit=found.head_commit,
    )


@router.get("/runs/{run_id}/result/merge", summary="Try to merge a run's result into its source")
async def check_merge(
    run_id: UUID, query: Annotated[MergeQuery, Query()], services: Services, who: Viewer
) -> MergeView:
    """Reads the present state of the source and merges in memory. The source does not change.

    Fetches the branch of a remote repository first. Sources without a repository give 409.
    """
    found = await services.merges.check(run_id, query.branch)
    outcome = found.outcome
    return MergeView(
        branch=outcome.branch,
        commit=outcome.commit,
        moved=outcome.moved,
        state=outcome.state,
        conflicts=list(outcome.conflicts),
        checked_at=found.checked_at,
    )


@router.post(
    "/runs/{run_id}/result/recheck", summary="Judge a run's result again on its target's current head"
)
async def recheck_result(
    run_id: UUID, services: Services, who: Operator, body: ResultRecheck | None = None
) -> ResultCheckView:
    """Merges afresh and evaluates with tools; no agent and no model takes part. The source does not change.

    If neither the result nor the head has moved since the last check, the response is that check.
    """
    return await services.rechecks.recheck(run_id, body.branch if body else None)


@router.get("/runs/{run_id}/result/recheck", summary="Show how a run's result was judged again")
async def show_recheck(run_id: UUID, services: Services, who: Viewer) -> ResultCheckView | None:
    """The newest check; null before the first one."""
    return await services.rechecks.last(run_id)


@router.post("/runs/{run_id}/result/branch", summary="Create a branch with a run's result in its source")
async def create_result_branch(
    run_id: UUID, services: Services, who: Reviewer, body: BranchCreate | None = None
) -> BranchView:
    """Only for local repositories, and only for output that the gates passed.

    Adds commits and one branch. Working tree, index and `HEAD` of the repository do not change. A repetition
    changes nothing.
    """
    applied = await services.merges.apply(run_id, body.branch if body else None)
    return BranchView(
        repository=applied.repository,
        branch=applied.branch,
        commit=applied.commit,
        created=applied.created,
    )
