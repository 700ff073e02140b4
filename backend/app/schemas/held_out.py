"""Held-out tests, which no agent sees: how they are given, and what an agent learns about them."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from app.schemas.text import relative_path

MAX_HELD_OUT_FILES = 200
MAX_HELD_OUT_BYTES = 500_000
MAX_SHARE = 0.8
"""More hidden cases would leave too little to work from."""

Share = Annotated[float, Field(strict=True, ge=0, le=MAX_SHARE, allow_inf_nan=False)]
"""A share of the cases in a goal's tests; 0 hides none."""

HELD_OUT_TESTS = "held_out_tests"
"""The name of the gate that runs held-out tests."""


class HeldOutKind(StrEnum):
    """What the held-out tests of a run are.

    `SHARE`: some cases of the base's own tests. `BROUGHT`: tests that are not in the base.
    """

    SHARE = "share"
    BROUGHT = "brought"


def _sized(value: str) -> str:
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > MAX_HELD_OUT_BYTES:
        raise ValueError(f"has {size:,} bytes; {MAX_HELD_OUT_BYTES:,} are allowed")
    return value


def _file_path(value: str) -> str:
    if len(value) > 500:
        raise ValueError("the path of a file has more than 500 characters")
    return relative_path(value)


FilePath = Annotated[str, AfterValidator(_file_path)]


class HeldOutInput(BaseModel):
    """Tests that no agent sees: a unified diff, complete files by path, or a share of the base's own."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"files": {"tests/test_hidden.py": "def test_zero():\n    assert parse('0s') == 0\n"}}
            ]
        },
    )

    patch: Annotated[str, AfterValidator(_sized)] | None = Field(
        default=None, min_length=1, description="A unified diff, as `git diff` writes it, against the base."
    )
    files: dict[FilePath, Annotated[str, AfterValidator(_sized)]] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_HELD_OUT_FILES,
        description="File contents by path in the project.",
    )

    share: Share | None = Field(
        default=None,
        description="The share of cases to hide in the base's test files that belong to the goal. "
        "0 hides none, whatever the project's or the service's default is.",
    )

    @model_validator(mode="after")
    def _is_one_of_three(self) -> Self:
        if [self.patch, self.files, self.share].count(None) != 2:
            raise ValueError("give either patch, files or share")
        return self

    @property
    def hides_nothing(self) -> bool:
        """Return True if it only overrules the default share."""
        return self.share == 0


class HiddenCases(BaseModel):
    """How many cases of a base's own tests are held out.

    Attributes:
        base: the commit that holds all of them.
        is_known: whether the source has that commit, so that the result can be put on top of it.
        hidden: number of hidden cases.
        total: number of cases in the same files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str
    is_known: bool = True
    hidden: int
    total: int

    def in_words(self) -> str:
        """Return the numbers in a sentence."""
        return f"{self.hidden} of {self.total} cases are hidden from the agent."


class HeldOutAtBase(BaseModel):
    """The results of held-out tests at the base, before the run changes anything.

    Attributes:
        passing: names of tests that pass there; they show nothing about the goal.
        failing: number of tests that fail there.
        unreadable: names of files that cannot be imported there.
        trouble: why nothing is known; `""` if the tests ran.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    passing: list[str] = []
    failing: int = 0
    unreadable: list[str] = []
    trouble: str = ""

    @property
    def total(self) -> int:
        """Return the number of tests that ran."""
        return len(self.passing) + self.failing

    def in_words(self) -> str:
        """Return the results in one or two sentences."""
        if self.trouble:
            return f"The held-out tests could not be run at the base: {self.trouble}"
        if not self.total and not self.unreadable:
            return "No held-out tests were collected at the base, so nothing can pass the gate."
        files = len(self.unreadable)
        unread = f" {files} file{'s' * (files != 1)} cannot be imported there yet." if files else ""
        if not self.passing:
            ran = f"None of {self.total} held-out tests passes at the base." if self.total else ""
            return f"{ran}{unread}".strip()
        told = f"{len(self.passing)} of {self.total} held-out tests pass at the base already"
        return f"{told}; they prove nothing about the goal.{unread}"
