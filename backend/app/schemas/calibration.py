"""Labelled cases: what is known about a tree before anything judges it."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.runs import Phase
from app.schemas.sprints import MAX_GOAL_CHARS
from app.schemas.text import CleanLine, CleanText


class Label(StrEnum):
    """What is right to say about a case.

    `GOOD` must pass. `BAD` must not: it does not do what it is to do. `GAMED` must not either: it was made
    to look as if it did.
    """

    GOOD = "good"
    BAD = "bad"
    GAMED = "gamed"


class CaseHead(BaseModel):
    """What `case.toml` says about one case.

    Attributes:
        label: what is right to say about the candidate.
        about: what the candidate does, in a line.
        area: what kind of case it is, for grouping.
        twin: name of the case that looks similar and is honest.
        residual: why a case that must not pass is known to pass; None where it must not.
        phase: whose evaluators judge.
        goal: what the work was to achieve, for evaluators that ask.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Label
    about: CleanLine = Field(min_length=1, max_length=500)
    area: CleanLine = Field(default="", max_length=100)
    twin: CleanLine | None = Field(default=None, min_length=1, max_length=200)
    residual: CleanLine | None = Field(default=None, min_length=1, max_length=1000)
    phase: Phase = Phase.CODING
    goal: CleanText = Field(default="", max_length=MAX_GOAL_CHARS)
