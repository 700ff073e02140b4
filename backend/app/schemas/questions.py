"""The precise question that a person is asked about a changed test, with both versions side by side."""

import hashlib
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

QUESTIONS = "questions"
"""Key in a result's metadata for the questions that the evaluator would ask a person."""

ASKED = "A person is asked: "
"""Begins a line of feedback that gives a question."""

AT_BASE_AND_NOW = ("At the base", "In the attempt")
"""What the two texts of a question are, unless it says otherwise."""

TESTS_AND_CODE = ("In the tests", "In the code")

MAX_QUESTIONS = 50
"""The most questions in one result."""

FEW_QUESTIONS = 5
"""The most questions of one kind. More of them become one, because a person decides about all at once."""

MAX_TESTS = 500
"""The most tests that a question names one by one. One about more tests names none."""

_SOURCE_CHARS = 6000
_LINES_AROUND = 3
_COMPARED_LINES = 10_000


class ProtectedPolicy(StrEnum):
    """The effect of a changed test, fixture or setting of the base.

    `FAIL`: the attempt fails. `ASK`: a person is asked if everything else holds. `NOTE`: it is only noted.
    """

    FAIL = "fail"
    ASK = "ask"
    NOTE = "note"


class BaseFailures(StrEnum):
    """Which tests that already fail at the base count against an attempt.

    `GOAL`: those that belong to the goal. `MUST_PASS`: all of them. `IGNORE`: none of them.
    """

    GOAL = "goal"
    MUST_PASS = "must_pass"  # noqa: S105 - a policy, not a password
    IGNORE = "ignore"


class QuestionKind(StrEnum):
    """What happened to the subject of a question.

    `WEAKER`: it checks less. `DIFFERENT`: it checks something else. `REMOVED`: it is gone. `ADDED`: it is new
    and decides about later runs. `RED_AT_BASE`: it failed before the run changed anything, and still fails.
    `DOUBTFUL`: it speaks against the attempt, but the setting of the gate may be at fault.
    """

    WEAKER = "weaker"
    DIFFERENT = "different"
    REMOVED = "removed"
    ADDED = "added"
    RED_AT_BASE = "red_at_base"
    DOUBTFUL = "doubtful"


class Question(BaseModel):
    """One question about one test, fixture, helper or file.

    Attributes:
        id: `path::name` of a test, fixture or helper, or the path of a file.
        kind: what happened to it.
        text: the question, one sentence.
        why: what is known about it, one sentence.
        before: its source text at the base; `""` if it was not there.
        after: its source text in the attempt; `""` if it is gone.
        before_heading: what `before` is.
        after_heading: what `after` is.
        tests: ids of the tests in question that fail at the base. A reviewer can add them to the known
            failures of the repository, so that no later run asks about them.
        key: identifies the question; an acceptance of it covers exactly this change.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    kind: QuestionKind
    text: str
    why: str = ""
    before: str = ""
    after: str = ""
    before_heading: str = AT_BASE_AND_NOW[0]
    after_heading: str = AT_BASE_AND_NOW[1]
    tests: tuple[str, ...] = ()
    key: str = Field(pattern=r"^[0-9a-f]{64}$")

    @classmethod
    def about(
        cls,
        subject: str,
        kind: QuestionKind,
        text: str,
        *,
        why: str = "",
        before: str = "",
        after: str = "",
        headings: tuple[str, str] = AT_BASE_AND_NOW,
    ) -> "Question":
        """Return a question about a change. Long sources show only what differs, but the key covers all."""
        parts = "\x1f".join((subject, kind.value, before, after))
        before_shown, after_shown = _shown(before, after)
        return cls(
            id=subject,
            kind=kind,
            text=text,
            why=why,
            before=before_shown,
            after=after_shown,
            before_heading=headings[0],
            after_heading=headings[1],
            key=_hashed(parts),
        )

    @property
    def compares_versions(self) -> bool:
        """Whether the two sides are a source at the base and in the attempt."""
        return (self.before_heading, self.after_heading) == AT_BASE_AND_NOW

    def about_tests(self, tests: Sequence[str]) -> "Question":
        """Return this question about tests that fail at the base; see `tests`."""
        return self.model_copy(update={"tests": tuple(tests) if len(tests) <= MAX_TESTS else ()})

    def standing_for(self, others: Iterable["Question"]) -> "Question":
        """Return this question with a key that covers those of others, in any order."""
        return self.model_copy(update={"key": _hashed("\n".join(sorted(each.key for each in others)))})


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _shown(before: str, after: str) -> tuple[str, str]:
    """Return both sources, or if one is long, their different lines with a few around them."""
    old, new = before.splitlines(), after.splitlines()
    is_short = max(len(before), len(after)) <= _SOURCE_CHARS or before == after
    if is_short or not (old and new) or len(old) + len(new) > _COMPARED_LINES:
        return _cut(before), _cut(after)
    groups = list(SequenceMatcher(None, old, new).get_grouped_opcodes(_LINES_AROUND))
    sides = (
        ["\n".join(old[group[0][1] : group[-1][2]]) for group in groups],
        ["\n".join(new[group[0][3] : group[-1][4]]) for group in groups],
    )
    return _cut("\n…\n".join(sides[0])), _cut("\n…\n".join(sides[1]))


def _cut(text: str) -> str:
    return text if len(text) <= _SOURCE_CHARS else f"{text[:_SOURCE_CHARS]}\n…"
