"""Observed gates in the API: what they would have blocked, and what people said about it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.schemas.api.attempts import EvaluationStatusName
from app.schemas.shares import Share


class HumanWord(StrEnum):
    """What people said about a verdict, by a mark or by accepting the work."""

    NONE = "none"
    CONFIRMED = "confirmed"
    OVERRULED = "overruled"


class ObservedGate(BaseModel):
    """One observed gate over the chosen runs; each verdict on an attempt's chosen candidate is a case.

    Attributes:
        failed: share of all verdicts.
        errored: share of all verdicts; the gate could not judge.
        would_block: share of all verdicts that failed or errored while nothing else stopped the work.
        runs: number of runs that it would have stopped at least once.
        overruled: share of `would_block`: a reviewer marked the verdict wrong, or accepted the work.
        confirmed: share of `would_block`: a reviewer marked the verdict right.
    """

    model_config = ConfigDict(frozen=True)

    evaluator: str
    verdicts: int
    failed: Share
    errored: Share
    would_block: Share
    runs: int
    overruled: Share
    confirmed: Share
    first_at: datetime
    last_at: datetime


class WouldBlock(BaseModel):
    """One attempt that an observed gate would have blocked."""

    model_config = ConfigDict(frozen=True)

    evaluator: str
    status: EvaluationStatusName
    feedback: str
    evaluated_at: datetime
    run_id: UUID
    run_name: str
    phase: str
    attempt: int
    word: HumanWord


class ObserveReport(BaseModel):
    """What observed gates would have done; `would_block` holds the newest 100 such attempts."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    gates: list[ObservedGate]
    would_block: list[WouldBlock]
