"""Marks: reviewers say whether verdicts were right."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.text import CleanText

MAX_NOTE_CHARS = 4000

MarkKind = Literal["right", "wrong_pass", "wrong_fail"]
"""The verdict was right, a wrong pass (of bad work), or a wrong fail (of good work)."""


class MarkCreate(BaseModel):
    """Whether a verdict was right. Marks measure the evaluators."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    was_right: bool = Field(description="False for a wrong pass or a wrong fail.")
    note: CleanText = Field(default="", max_length=MAX_NOTE_CHARS)


class MarkView(BaseModel):
    """One reviewer's mark on one verdict. Only the newest mark on a verdict counts."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    evaluation_id: UUID
    was_right: bool
    kind: MarkKind
    note: str
    marked_by: str
    marked_at: datetime


class MarkList(BaseModel):
    """The marks on one verdict, newest first."""

    items: list[MarkView]
