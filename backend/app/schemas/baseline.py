"""What the base's tests do before an agent has changed anything."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

SHOWN_TESTS = 50
"""How many tests of each kind a summary names."""


class RedTest(BaseModel):
    """A test that fails at the base in every run, or a file that cannot be read there.

    Attributes:
        id: pytest's id of the test, or the path of the file.
        message: place and assertion of the failure.
        signature: the part of the message that stays the same from run to run; `""` if its words differ.
        files: the project's files in the traceback.
        needs_network: whether the test tried to reach a network, which tests do not have.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    message: str
    signature: str
    files: list[str] = []
    needs_network: bool = False


class FlakyTest(BaseModel):
    """A test that both passes and fails at the base: `failed` of `runs` runs failed, with `message`."""

    model_config = ConfigDict(frozen=True)

    id: str
    failed: int
    runs: int
    message: str


class Baseline(BaseModel):
    """What the base's tests do on the base's own code, in at least two runs.

    Attributes:
        key: identifies the base's files, the environment and the rules of the run.
        passing: tests that pass in every run.
        skipped: tests that are skipped or expected to fail.
        red: tests that fail in every run.
        flaky: tests that pass in some runs and fail in others.
        unreadable: test files that cannot be collected.
        forged: why pytest's reports cannot be trusted, in the words of a run's report; a
            project may patch pytest.
        whole: whether every test of the base is in one of the lists, so that they can replace a run.
        limit: seconds that one test may take.
        waits_for: the first test that did not end; `""` if all did.
        seconds: duration of the first run.
        trouble: why nothing is known; `""` if the tests ran to their end.
    """

    model_config = ConfigDict(frozen=True)

    key: str = ""
    passing: list[str] = []
    skipped: list[str] = []
    red: list[RedTest] = []
    flaky: list[FlakyTest] = []
    unreadable: list[RedTest] = []
    forged: list[str] = []
    whole: bool = False
    limit: float = 0.0
    waits_for: str = ""
    seconds: float = 0.0
    trouble: str = ""

    @property
    def total(self) -> int:
        """Return the number of tests that ran."""
        return len(self.passing) + len(self.skipped) + len(self.red) + len(self.flaky)

    def in_words(self) -> str:
        """Return the baseline in one or two sentences."""
        if self.trouble:
            return f"The base's tests gave no baseline: {self.trouble}"
        if not self.total and not self.unreadable:
            return "The base has no Python tests."
        told: list[str] = []
        if self.red:
            verb = "test is" if len(self.red) == 1 else "tests are"
            needing = sum(each.needs_network for each in self.red)
            why = f" ({needing} for want of a network)" if needing else ""
            told.append(f"{len(self.red)} {verb} red at the base{why}")
        if self.unreadable:
            noun = "file" if len(self.unreadable) == 1 else "files"
            told.append(f"{len(self.unreadable)} test {noun} cannot be read")
        if self.flaky:
            verb = "is" if len(self.flaky) == 1 else "are"
            told.append(f"{len(self.flaky)} {verb} flaky")
        told.append(f"{len(self.passing)} of {self.total} pass at the base")
        return f"{'; '.join(told)}."


class BaselineSummary(BaseModel):
    """A baseline in numbers, with the tests that do not pass."""

    model_config = ConfigDict(frozen=True)

    note: str = Field(description="The baseline in a sentence.")
    total: int = Field(description="Tests that ran.")
    passing: int = Field(description="Tests that pass in every run.")
    skipped: int = Field(description="Tests that are skipped or expected to fail.")
    red: int = Field(description="Tests that fail in every run.")
    flaky: int = Field(description="Tests that pass in some runs and fail in others.")
    unreadable: int = Field(description="Test files that cannot be collected.")
    red_tests: list[RedTest] = Field(description=f"The first {SHOWN_TESTS} red tests.")
    flaky_tests: list[FlakyTest] = Field(description=f"The first {SHOWN_TESTS} flaky tests.")
    unreadable_files: list[RedTest] = Field(description=f"The first {SHOWN_TESTS} unreadable files.")
    trouble: str = Field(description="Why nothing is known; empty if the tests finished.")

    @classmethod
    def of(cls, found: Baseline) -> Self:
        """Return the summary of a baseline."""
        return cls(
            note=found.in_words(),
            total=found.total,
            passing=len(found.passing),
            skipped=len(found.skipped),
            red=len(found.red),
            flaky=len(found.flaky),
            unreadable=len(found.unreadable),
            red_tests=found.red[:SHOWN_TESTS],
            flaky_tests=found.flaky[:SHOWN_TESTS],
            unreadable_files=found.unreadable[:SHOWN_TESTS],
            trouble=found.trouble,
        )


class BaselineView(BaseModel):
    """The complete baseline of a run."""

    model_config = ConfigDict(frozen=True)

    note: str = Field(description="The baseline in a sentence.")
    measured_at: datetime
    reused: bool = Field(description="Whether it was measured by an earlier run with the same base.")
    baseline: Baseline
