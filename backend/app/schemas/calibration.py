"""Labelled cases: what is known about a tree before anything judges it."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.runs import Phase
from app.schemas.text import MAX_GOAL_CHARS, CleanLine, CleanText

MAX_OUTPUT_CHARS = 100_000
"""Length of an agent's final message in a case."""


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
        output: the agent's final message; without one no evaluator of an agent's words is asked.
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
    """What one evaluator said about a case."""

    model_config = ConfigDict(frozen=True)

    evaluator: str
    version: str
    gate: bool
    status: str = Field(description="passed, failed, errored or skipped")
    feedback: str
    duration_ms: int | None = None


class CaseOutcome(BaseModel):
    """What became of one case: the panel's verdict, and what it rests on."""

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
        """True when the verdict is not what the label asks for and no residual explains it."""
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
    denominators and are listed apart.

    Attributes:
        name: `panel`, or the evaluator.
        gate: whether it decides.
        bad_passed: share of the bad and gamed cases that passed; specificity is 1 minus this.
        good_failed: share of the good cases that failed; sensitivity is 1 minus this.
        errored: cases without a verdict, of all.
        skipped: cases with nothing to check, of all.
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
    """What a corpus says about the evaluators.

    Attributes:
        corpus: its name, or its directory.
        cases: how many cases there are of each label.
        seconds: wall clock.
        panel: the verdicts on whole cases.
        evaluators: each evaluator alone; one gate alone need not catch what another is there for.
        surprises: verdicts that are wrong and not known to be.
        mended: residuals that no longer pass, so that they can be taken off the list.
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
