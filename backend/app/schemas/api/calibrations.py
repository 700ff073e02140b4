"""Stored calibrations in the API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.shares import Share


class CalibratedGate(BaseModel):
    """How often the panel, or one evaluator, was wrong on the cases of a corpus.

    Attributes:
        evaluator: its name, or `panel` for the verdict on whole cases.
        bad_passed: share of the bad cases; specificity is 1 minus this, if every case got a verdict.
        good_failed: share of the good cases; sensitivity is 1 minus this, under the same condition.
        errored: share of all cases that got no verdict.
    """

    model_config = ConfigDict(frozen=True)

    evaluator: str
    version: str
    gate: bool
    bad_passed: Share
    good_failed: Share
    errored: Share


class KeptCalibration(BaseModel):
    """The latest calibration on a corpus.

    Attributes:
        corpus: its name, or its directory.
        at: when it ended.
        cases: number of cases.
        whole: false if options selected evaluators or cases.
    """

    model_config = ConfigDict(frozen=True)

    corpus: str = Field(max_length=4_096)
    at: datetime
    cases: int
    whole: bool
    panel: CalibratedGate
    evaluators: list[CalibratedGate]
