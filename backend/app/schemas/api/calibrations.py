"""Calibrations that were kept, as the API speaks of them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.shares import Share


class CalibratedGate(BaseModel):
    """How often the panel, or one evaluator, was wrong on the cases of a corpus.

    Attributes:
        evaluator: its name, or `panel` for the verdict on whole cases.
        bad_passed: of the bad cases; specificity is 1 minus this, if every case got a verdict.
        good_failed: of the good cases; sensitivity is 1 minus this, with the same condition.
        errored: cases without a verdict, of all.
    """

    model_config = ConfigDict(frozen=True)

    evaluator: str
    version: str
    gate: bool
    bad_passed: Share
    good_failed: Share
    errored: Share


class KeptCalibration(BaseModel):
    """The last calibration on a corpus.

    Attributes:
        corpus: its name, or its directory.
        at: when it ended.
        cases: how many it had.
        whole: false if options chose evaluators or cases.
    """

    model_config = ConfigDict(frozen=True)

    corpus: str = Field(max_length=4_096)
    at: datetime
    cases: int
    whole: bool
    panel: CalibratedGate
    evaluators: list[CalibratedGate]
