"""Reads the records of a test run and decides whether they can be trusted."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from signal import SIGVTALRM
from typing import Any

from app.runners.evaluators.testing.running.records import read_records
from app.runners.evaluators.testing.running.secret import RunSecret, all_ran, wrong_canaries
from app.workspaces.process import ProcessOutcome


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


_TESTS_FAILED, _INTERRUPTED, _INTERNAL_ERROR, _USAGE_ERROR = 1, 2, 3, 4
_OLDEST_PYTEST = (7, 4)
_SHELL_SIGNAL = 128


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
    """

    id: str
    outcome: Outcome
    seconds: float
    message: str
    files: tuple[str, ...] = ()
    sought_network: bool = False

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
        left_out: collected tests for which the run had no time, because they take too long.
        forged: why the reports cannot be trusted: canaries with a wrong outcome, replaced parts of pytest.
        altered: what the candidate's code changed of what tests use besides it, such as Python's library.
        altered_by_others: what code of trusted files changed of them.
        written: by file of the tests that was written, the test file whose tests ran then; `""` if unknown.
        wide: exceptions of the candidate's code that accept more than their names say.
        wide_by_others: such exceptions in trusted files.
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
    left_out: tuple[str, ...] = ()
    forged: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    altered_by_others: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict[str, str])
    wide: tuple[str, ...] = ()
    wide_by_others: tuple[str, ...] = ()
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
    def as_collected(self) -> tuple[str, ...]:
        """The collected tests in the order of collection, which is the same in every run, shuffled or not."""
        return tuple(sorted(self.ids, key=lambda each: self.places.get(each, len(self.places))))

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Tests that were collected and never ended, without those that were left out."""
        left_out = set(self.left_out)
        return tuple(each for each in self.ids if each not in self.tests and each not in left_out)

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


def read_report(stream: bytes, process: ProcessOutcome, secret: RunSecret) -> RunReport:
    """Return the report of a run from its records and from how its process ended."""
    text = "\n".join(part for part in (process.stdout.strip(), process.stderr.strip()) if part)
    records, torn = read_records(stream, secret)
    code = _exit_code(records)
    ending = _ending(records, process, whole=not torn and code is not None and code == process.returncode)
    frame = RunReport(ending, text=text, seconds=process.seconds, signal=_signal(process), code=code)
    try:
        return _assembled(records, frame, secret)
    except (KeyError, TypeError, ValueError):
        return replace(frame, ending=PytestEnding.TORN)


def _ending(records: list[dict[str, Any]], process: ProcessOutcome, *, whole: bool) -> PytestEnding:
    if not records:
        return PytestEnding.TIMED_OUT if process.timed_out else PytestEnding.UNSTARTED
    if _is_too_old(str(records[0].get("pytest", ""))):
        return PytestEnding.UNFIT
    if process.timed_out:
        return PytestEnding.TIMED_OUT
    if not whole:
        return PytestEnding.TORN
    broken = _exit_code(records) in (_INTERNAL_ERROR, _USAGE_ERROR)
    return PytestEnding.BROKEN if broken else PytestEnding.COMPLETE


def _assembled(records: list[dict[str, Any]], frame: RunReport, secret: RunSecret) -> RunReport:
    tests = [_test(each) for each in records if each["kind"] == "test"]
    collected = [each for each in records if each["kind"] == "collected"]
    canaries = {_name(each): str(each["outcome"]) for each in records if each["kind"] == "canary"}
    replaced = _named(records, "replaced", "names")
    return replace(
        frame,
        ids=tuple(str(name) for each in collected for name in each["ids"]),
        places={
            str(name): int(place)
            for each in collected
            for name, place in zip(each["ids"], each["places"], strict=True)
        },
        tests={each.id: each for each in tests},
        problems=tuple(
            CollectProblem(str(each["id"]), each["outcome"] == "skipped", str(each["message"]))
            for each in records
            if each["kind"] == "problem"
        ),
        deselected=sum(int(each["count"]) for each in records if each["kind"] == "deselected"),
        left_out=tuple(_named(records, "left_out", "ids")),
        forged=(*wrong_canaries(secret, canaries), *(f"{name} was replaced" for name in replaced)),
        altered=tuple(_named(records, "altered", "by_candidate")),
        altered_by_others=tuple(_named(records, "altered", "by_others")),
        written=dict(zip(*(_named(records, "altered", each) for each in ("written", "during")), strict=True)),
        wide=tuple(_named(records, "wide", "names")),
        wide_by_others=tuple(_named(records, "wide", "others")),
        canaries_ran=all_ran(secret, canaries),
        foreign={str(each["id"]): str(each["place"]) for each in records if each["kind"] == "foreign"},
        version=str(records[0].get("pytest", "")) if records else "",
    )


def _named(records: Iterable[Mapping[str, Any]], kind: str, field: str) -> list[str]:
    return [str(name) for each in records if each["kind"] == kind for name in each[field]]


def _test(record: Mapping[str, Any]) -> RanTest:
    return RanTest(
        str(record["id"]),
        Outcome(record["outcome"]),
        float(record["seconds"]),
        str(record["message"]),
        tuple(map(str, record.get("files", ()))),
        record.get("sought_network") is True,
    )


def _name(record: Mapping[str, Any]) -> str:
    return str(record["id"]).rpartition("::")[2]


def _signal(process: ProcessOutcome) -> int:
    """Return the signal that ended a process. Confined processes report it as a shell does."""
    if process.timed_out:
        return 0
    if process.returncode < 0:
        return -process.returncode
    return process.returncode - _SHELL_SIGNAL if process.returncode > _SHELL_SIGNAL else 0


def _is_too_old(version: str) -> bool:
    parts = version.split(".")[:2]
    return all(part.isdigit() for part in parts) and tuple(map(int, parts)) < _OLDEST_PYTEST


def _exit_code(records: list[dict[str, Any]]) -> int | None:
    code = records[-1].get("code") if records and records[-1]["kind"] == "finish" else None
    return code if isinstance(code, int) else None
