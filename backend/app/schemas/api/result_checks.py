"""A result that was judged again on the present head of a branch, in the API."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.text import CleanLine


class ResultRecheck(BaseModel):
    """The branch to judge on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    branch: Annotated[CleanLine, Field(min_length=1, max_length=255)] | None = Field(
        default=None, description="By default the branch that the run started from."
    )


class ResultCheckView(BaseModel):
    """The check of a result on the present head of a branch."""

    model_config = ConfigDict(frozen=True)

    branch: str
    commit: str = Field(description="The head of the branch that the result was merged into and judged at.")
    result_commit: str
    state: Literal["clean", "conflicts", "contained"]
    conflicts: list[str]
    after: list[str] = Field(
        default=[], description="Earlier results that were merged into that head before, in this order."
    )
    verdict: Literal["passed", "failed", "errored"] | None = Field(
        description="Null if nothing was judged: files conflict, or the branch has every change."
    )
    reason: str
    checked_at: datetime

    @property
    def problem(self) -> str:
        """Return why the result cannot be offered; empty if it can."""
        place = f"{self.branch} at {self.commit[:12]}"
        if self.after:
            place += f" with {' and '.join(self.after)}, which come before"
        if self.state == "conflicts":
            return f"it conflicts with {place}: {', '.join(self.conflicts)}"
        if self.verdict in ("failed", "errored"):
            return f"judged again on {place}, it {self.verdict}: {self.reason}"
        return ""
