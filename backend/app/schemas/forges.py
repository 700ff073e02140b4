"""Where a run comes from and goes to on a forge."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ForgeOutcome = Literal["merged", "closed"]


class ForgeOrigin(BaseModel):
    """The repository of a run on a forge, and what it was started by.

    Attributes:
        forge: name of the forge in the operator's file.
        repository: `owner/name`.
        issue: number of the issue that became the goal.
        trigger: what started it; a second run with the same trigger is refused.
    """

    model_config = ConfigDict(frozen=True)

    forge: str
    repository: str
    issue: int | None = None
    trigger: str | None = None


class ForgeView(BaseModel):
    """What became of a run on its forge.

    Attributes:
        problem: why the last report did not reach the forge; empty while all is well.
    """

    model_config = ConfigDict(frozen=True)

    forge: str
    repository: str
    issue: int | None
    branch: str | None
    pull_number: int | None
    pull_url: str | None
    outcome: ForgeOutcome | None = Field(description="What became of the pull request.")
    outcome_by: str | None
    outcome_at: datetime | None
    problem: str = ""
