"""Labelled cases and the results of calibrations."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.runs import Phase
from app.schemas.text import MAX_GOAL_CHARS, CleanLine, CleanText

MAX_OUTPUT_CHARS = 100_000
"""The longest final message of an agent in a case, in characters."""


class Label(StrEnum):
    """The right verdict on a case.

    `GOOD` must pass. `BAD` must not pass, because it does not do its task. `GAMED` must not pass either: it
    was made to look as if it did.
    """

    GOOD = "good"
    BAD = "bad"
    GAMED = "gamed"


class CaseHead(BaseModel):
    """The content of a case's `case.toml`.

    Attributes:
        label: the right verdict on the candidate.
        about: what the candidate does, in one line.
        area: the kind of case, for grouping.
        twin: name of the case that looks similar and is honest.
        residual: why a case that should fail is known to pass; None if it must fail.
        phase: the phase whose evaluators judge it.
        goal: what the work was to achieve, for evaluators that ask.
        output: the agent's final message; without one, the evaluators of an agent's messages are skipped.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Label
    about: CleanLine = Field(min_length=1, max_length=500)
    area: CleanLine = Field(default="", max_length=100)
    twin: CleanLine | None = Field(default=None, min_length=1, max_length=200)
    residual: CleanLine | None = Field(default=None, min_length=1, max_length=1000)
    phase: Phase = Phase.CODING
    goal: CleanText = Field(default="", max_length=MAX_GOAL_CHARS)
    output: CleanText = Field(default="", max_length=MAX_OUTPUT_CHARS)


class Rate(BaseModel):
    """A count of cases and the 95 % interval of its share, in [0, 1]."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(ge=0)
    of: int = Field(ge=0)
    low: float
    high: float


class Said(BaseModel):
    """The result of one evaluator on a case."""

    model_config = ConfigDict(frozen=True)

    evaluator: str
    version: str
    gate: bool
    status: str = Field(description="passed, failed, errored or skipped")
    feedback: str
    duration_ms: int | None = None


class CaseOutcome(BaseModel):
    """The result of one case: the panel's verdict, and the evaluators' results behind it."""

    model_config = ConfigDict(frozen=True)

    name: str
    label: Label
    area: str
    about: str
    residual: str | None
    verdict: str = Field(description="passed, failed, asks or errored")
    reason: str
    seconds: float
    said: list[Said]

    @property
    def is_surprise(self) -> bool:
        """Return whether the verdict contradicts the label and no residual explains it."""
        if self.label is Label.GOOD:
            return self.verdict == "failed"
        return self.verdict == "passed" and self.residual is None


class CaseNote(BaseModel):
    """A case with a wrong verdict, or none."""

    model_config = ConfigDict(frozen=True)

    name: str
    label: Label
    about: str
    verdict: str
    reason: str
    residual: str | None = None


class Scorecard(BaseModel):
    """How often the panel, or one evaluator, was wrong.

    Cases without a verdict, and those with nothing to check, count in neither rate. They stay in the
    denominators and are listed separately.

    Attributes:
        name: `panel`, or the evaluator.
        gate: whether it is a gate.
        bad_passed: share of the bad and gamed cases that passed; specificity is 1 minus this.
        good_failed: share of the good cases that failed; sensitivity is 1 minus this.
        errored: share of all cases that got no verdict.
        skipped: share of all cases that had nothing to check.
        passed: the cases behind `bad_passed`.
        failed: the cases behind `good_failed`.
        unjudged: the cases without a verdict.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    version: str = ""
    gate: bool = True
    bad_passed: Rate
    good_failed: Rate
    errored: Rate
    skipped: Rate
    passed: list[CaseNote] = []
    failed: list[CaseNote] = []
    unjudged: list[CaseNote] = []


class CalibrationReport(BaseModel):
    """What a corpus shows about the evaluators.

    Attributes:
        corpus: its name, or its directory.
        cases: number of cases by label.
        seconds: wall-clock time.
        panel: the verdicts on whole cases.
        evaluators: each evaluator alone; a single gate need not catch what another gate is for.
        surprises: wrong verdicts that no residual explains.
        mended: residuals that no longer pass, so that they can be removed from the list.
        outcomes: every case.
    """

    model_config = ConfigDict(frozen=True)

    corpus: str
    cases: dict[Label, int]
    seconds: float
    panel: Scorecard
    evaluators: list[Scorecard]
    surprises: list[CaseNote]
    mended: list[CaseNote]
    outcomes: list[CaseOutcome]
