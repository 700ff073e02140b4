"""What a run of tests reported."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from signal import SIGVTALRM


class Outcome(StrEnum):
    """How one test ended.

    `ERROR` is a failure in its set-up or tear-down. `CUT` tests were ended, because they exceeded a limit
    that only some runs have.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    CUT = "cut"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"


class PytestEnding(StrEnum):
    """How the whole run ended.

    `UNSTARTED`: the runner itself could not start (no pytest in the interpreter). `UNFIT`: this pytest is too
    old. `TIMED_OUT`: killed at the deadline. `TORN`: the process ended without its closing record, or with
    another status than it reported. `BROKEN`: pytest could not work (a conftest that cannot be imported, an
    internal error). `COMPLETE`: the run reached its end, whatever the outcome of its tests.
    """

    UNSTARTED = "unstarted"
    UNFIT = "unfit"
    TIMED_OUT = "timed_out"
    TORN = "torn"
    BROKEN = "broken"
    COMPLETE = "complete"


_TESTS_FAILED, _INTERRUPTED = 1, 2
"""Exit codes of pytest."""


@dataclass(frozen=True, slots=True)
class RanTest:
    """One test that ran.

    Attributes:
        id: pytest's id.
        outcome: how it ended.
        seconds: how long it took.
        message: place and assertion of a failure, or the reason of a skip.
        files: for a failure, the project's files in its traceback, as POSIX paths; empty if unknown.
        sought_network: whether it tried to reach a network, which tests do not have.
        line: for a failure raised in a library, `file:line` of the project's last line before it; else empty.
        unexpected: whether it counts as failed only because it must not pass by its strict `xfail`.
    """

    id: str
    outcome: Outcome
    seconds: float
    message: str
    files: tuple[str, ...] = ()
    sought_network: bool = False
    line: str = ""
    unexpected: bool = False

    @property
    def ok(self) -> bool:
        """True for a test that ran and passed."""
        return self.outcome in (Outcome.PASSED, Outcome.XPASSED)

    @property
    def bad(self) -> bool:
        """True for a test that failed, or was ended before it could pass."""
        return self.outcome in (Outcome.FAILED, Outcome.ERROR, Outcome.CUT)

    @property
    def was_cut(self) -> bool:
        """True for a test that was ended because of a time limit."""
        return self.outcome is Outcome.CUT

    @property
    def idle(self) -> bool:
        """True for a test that is no evidence, because it was skipped or was expected to fail."""
        return self.outcome in (Outcome.SKIPPED, Outcome.XFAILED)


@dataclass(frozen=True, slots=True)
class CollectProblem:
    """A file that could not be collected, or that skipped itself if `skipped` is True."""

    id: str
    skipped: bool
    message: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """The results of a test run.

    Attributes:
        ending: how it ended.
        code: pytest's exit code; None if the run did not get that far.
        ids: the collected tests, in the order of the run.
        places: by id, the test's number in the order of collection, which a plug-in may have changed.
        tests: the tests that ran to their end, by id.
        problems: files that could not be collected or were skipped as a whole.
        deselected: number of tests that were deselected.
        skipped: tests that a mark skips, of a run that only lists them.
        left_out: collected tests for which the run had no time, because they take too long.
        forged: why the reports cannot be trusted: canaries with a wrong outcome, replaced parts of pytest.
        altered: what the candidate's code changed of what tests use besides it, such as Python's library.
        altered_by_others: what code of trusted files changed of them.
        noticed: by name in `altered`, the test files of which one changed it. None mean that it was so before
            the first test; a name is missing if that is unknown.
        wide: exceptions of the candidate's code that accept more than their names say.
        wide_by_others: such exceptions in trusted files.
        ran_lines: by path, the lines of watched files that ran; None if this interpreter cannot tell.
        rewritten: test files of the base that a run of the candidate's own tests changed.
        canaries_ran: whether the canaries ran before the first test and after the last.
        foreign: by id, tests whose code does not come from their own file, and its origin.
        version: pytest's version.
        signal: number of the signal that ended the process, 0 for none.
        text: the end of pytest's output.
        seconds: wall-clock duration.
    """

    ending: PytestEnding
    code: int | None = None
    ids: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict[str, int])
    tests: Mapping[str, RanTest] = field(default_factory=dict[str, RanTest])
    problems: tuple[CollectProblem, ...] = ()
    deselected: int = 0
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    forged: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    altered_by_others: tuple[str, ...] = ()
    noticed: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    wide: tuple[str, ...] = ()
    wide_by_others: tuple[str, ...] = ()
    ran_lines: Mapping[str, frozenset[int]] | None = None
    rewritten: tuple[str, ...] = ()
    canaries_ran: bool = True
    foreign: Mapping[str, str] = field(default_factory=dict[str, str])
    version: str = ""
    signal: int = 0
    text: str = ""
    seconds: float = 0.0

    @property
    def errors(self) -> tuple[CollectProblem, ...]:
        """Files that could not be collected."""
        return tuple(each for each in self.problems if not each.skipped)

    @property
    def failures(self) -> tuple[RanTest, ...]:
        """Tests that failed."""
        return tuple(each for each in self.tests.values() if each.bad)

    @property
    def cut(self) -> tuple[str, ...]:
        """Tests that were ended because of a time limit."""
        return tuple(name for name, test in self.tests.items() if test.was_cut)

    @property
    def as_collected(self) -> tuple[str, ...]:
        """The collected tests in the order of collection, which is the same in every run, shuffled or not."""
        return tuple(sorted(self.ids, key=lambda each: self.places.get(each, len(self.places))))

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Tests that were collected and never ended, without those that were left out."""
        left_out = set(self.left_out)
        return tuple(each for each in self.ids if each not in self.tests and each not in left_out)

    @property
    def is_sound(self) -> bool:
        """True if the run reached its end and nothing shows that its reports were tampered with."""
        return self.ending is PytestEnding.COMPLETE and not self.forged and self.canaries_ran

    @property
    def was_stuck(self) -> bool:
        """True if the first unfinished test never returned to Python, and the process was ended for that."""
        return self.signal == SIGVTALRM

    def without(self, tests: Collection[str]) -> "RunReport":
        """Return the report as if the run had not had these tests or uncollectable files."""
        left = replace(
            self,
            tests={name: test for name, test in self.tests.items() if name not in tests},
            ids=tuple(each for each in self.ids if each not in tests),
            problems=tuple(each for each in self.problems if each.id not in tests),
            left_out=tuple(each for each in self.left_out if each not in tests),
        )
        return left._with_code_of(self)

    def with_tests(self, tests: Mapping[str, RanTest]) -> "RunReport":
        """Return the report with other results of these tests."""
        return replace(self, tests={**self.tests, **tests})._with_code_of(self)

    def _with_code_of(self, before: "RunReport") -> "RunReport":
        """Once the last failure is gone, an exit code that only reports failures becomes 0."""
        had = before.failures or before.errors
        ended_well = had and not (self.failures or self.errors or self.unfinished)
        return replace(self, code=0) if ended_well and self.code in (_TESTS_FAILED, _INTERRUPTED) else self

    def count(self) -> Counter[Outcome]:
        """Number of tests by outcome."""
        return Counter(each.outcome for each in self.tests.values())


def lines_of_all(runs: Iterable[RunReport]) -> dict[str, frozenset[int]] | None:
    """Return the lines of watched files that ran in any of some runs; None if one of these does not tell."""
    found: dict[str, frozenset[int]] = {}
    for run in runs:
        if run.ran_lines is None:
            return None
        found |= {name: found.get(name, frozenset()) | lines for name, lines in run.ran_lines.items()}
    return found
