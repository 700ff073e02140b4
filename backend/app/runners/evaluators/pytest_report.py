"""Reads the records of a test run and says whether they can be believed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from app.workspaces.process import ProcessOutcome


class Outcome(StrEnum):
    """How one test ended; `ERROR` is a failure in its set-up or tear-down."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"


class Ending(StrEnum):
    """How the run as a whole ended.

    `UNSTARTED`: the runner itself could not start (no pytest in the interpreter). `TIMED_OUT`: killed at the
    deadline. `TORN`: the process ended without its closing record, or with another status than it reported.
    `BROKEN`: pytest could not work (a conftest that cannot be imported, an internal error). `COMPLETE`: the
    run went to its end, whatever its tests say.
    """

    UNSTARTED = "unstarted"
    TIMED_OUT = "timed_out"
    TORN = "torn"
    BROKEN = "broken"
    COMPLETE = "complete"


_INTERNAL_ERROR, _USAGE_ERROR = 3, 4


@dataclass(frozen=True, slots=True)
class RanTest:
    """One test that ran; `message` holds place and assertion of a failure, or the reason of a skip."""

    id: str
    outcome: Outcome
    seconds: float
    message: str

    @property
    def ok(self) -> bool:
        """True for a test that ran and found nothing wrong."""
        return self.outcome in (Outcome.PASSED, Outcome.XPASSED)

    @property
    def bad(self) -> bool:
        """True for a test that failed."""
        return self.outcome in (Outcome.FAILED, Outcome.ERROR)

    @property
    def idle(self) -> bool:
        """True for a test that says nothing, because it was skipped or was expected to fail."""
        return self.outcome in (Outcome.SKIPPED, Outcome.XFAILED)


@dataclass(frozen=True, slots=True)
class CollectProblem:
    """A file that could not be collected, or with `skipped` one that took itself out."""

    id: str
    skipped: bool
    message: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """What became of a test run.

    Attributes:
        ending: how it ended.
        code: pytest's exit code; None when the run did not get that far.
        ids: the tests that were collected.
        tests: the tests that ran to their end, by id.
        problems: files that could not be collected or were skipped whole.
        deselected: number of tests that something took out of the run.
        text: the end of what pytest printed.
        seconds: wall-clock duration.
    """

    ending: Ending
    code: int | None = None
    ids: tuple[str, ...] = ()
    tests: Mapping[str, RanTest] = field(default_factory=dict[str, RanTest])
    problems: tuple[CollectProblem, ...] = ()
    deselected: int = 0
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
    def unfinished(self) -> tuple[str, ...]:
        """Tests that were collected and never came to an end."""
        return tuple(each for each in self.ids if each not in self.tests)

    def count(self) -> Counter[Outcome]:
        """Number of tests by outcome."""
        return Counter(each.outcome for each in self.tests.values())


class _TornError(Exception):
    """The stream is not the complete output of the runner."""


def read_report(stream: bytes, process: ProcessOutcome) -> RunReport:
    """Give the report of a run from its records and from how its process ended."""
    text = "\n".join(part for part in (process.stdout.strip(), process.stderr.strip()) if part)
    torn = False
    try:
        records = _records(stream)
    except _TornError:
        records, torn = _readable(stream), True
    code = _exit_code(records)
    if not records:
        ending = Ending.TIMED_OUT if process.timed_out else Ending.UNSTARTED
    elif process.timed_out:
        ending = Ending.TIMED_OUT
    elif torn or code is None or code != process.returncode:
        ending = Ending.TORN
    elif code in (_INTERNAL_ERROR, _USAGE_ERROR):
        ending = Ending.BROKEN
    else:
        ending = Ending.COMPLETE
    try:
        return _assembled(records, ending, code, text, process.seconds)
    except (KeyError, TypeError, ValueError):
        return RunReport(Ending.TORN, text=text, seconds=process.seconds)


def _assembled(
    records: list[dict[str, Any]], ending: Ending, code: int | None, text: str, seconds: float
) -> RunReport:
    tests = [_test(each) for each in records if each["kind"] == "test"]
    return RunReport(
        ending=ending,
        code=code,
        ids=tuple(str(name) for each in records if each["kind"] == "collected" for name in each["ids"]),
        tests={each.id: each for each in tests},
        problems=tuple(
            CollectProblem(str(each["id"]), each["outcome"] == "skipped", str(each["message"]))
            for each in records
            if each["kind"] == "problem"
        ),
        deselected=sum(int(each["count"]) for each in records if each["kind"] == "deselected"),
        text=text,
        seconds=seconds,
    )


def _test(record: Mapping[str, Any]) -> RanTest:
    return RanTest(
        str(record["id"]), Outcome(record["outcome"]), float(record["seconds"]), str(record["message"])
    )


def _exit_code(records: list[dict[str, Any]]) -> int | None:
    code = records[-1].get("code") if records and records[-1]["kind"] == "finish" else None
    return code if isinstance(code, int) else None


def _records(stream: bytes) -> list[dict[str, Any]]:
    """Parse a complete stream.

    Raises:
        _TornError: a record is cut, not JSON, or out of turn.
    """
    records = _readable(stream)
    complete = stream.endswith(b"\n") or not stream
    if not complete or len(records) != stream.count(b"\n"):
        raise _TornError
    return records


def _readable(stream: bytes) -> list[dict[str, Any]]:
    """Parse records from the start of a stream for as long as they are in turn."""
    return list(_in_turn(stream.split(b"\n")))


def _in_turn(lines: Iterable[bytes]) -> Iterable[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        try:
            record: object = json.loads(line)
        except ValueError:
            return
        if not isinstance(record, dict):
            return
        fields = cast("dict[str, Any]", record)
        in_place = fields.get("n") == number and isinstance(fields.get("kind"), str)
        if not in_place or (fields["kind"] == "start") != (number == 1):
            return
        yield fields
