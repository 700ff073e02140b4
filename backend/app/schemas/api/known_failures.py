"""Known failures of projects in the API: tests that may fail at the base without a question."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.text import CleanLine

MAX_SHOWN = 5000
"""The most known failures in one list, and the most that reviewers can add to one project."""

ProjectName = Annotated[CleanLine, Field(min_length=1, max_length=4096)]
TestId = Annotated[str, Field(min_length=1, max_length=10_000)]


class KnownFailureView(BaseModel):
    """One test that may fail at the base in every run of a project.

    Attributes:
        project: the location of the runs' source.
        test: the test's exact id.
        run_id: the run that asked about it; it may no longer exist.
        added_by: the reviewer who decided.
    """

    model_config = ConfigDict(frozen=True)

    project: str
    test: str
    run_id: UUID
    added_by: str
    added_at: datetime


class KnownFailureList(BaseModel):
    """Known failures, by project and test. `total` also counts those beyond the first 5,000."""

    items: list[KnownFailureView]
    total: int


class KnownFailuresRemoved(BaseModel):
    """How many known failures were removed."""

    removed: int


class KnownFailuresNamed(BaseModel):
    """Which known failures of a project to remove."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project: ProjectName
    test: list[TestId] = Field(
        default=[], max_length=500, description="Ids of tests; all of the project's known failures if absent."
    )
