"""Reads the records that the judge's process wrote."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from app.runners.evaluators.testing.pytest_outside.outside_report import (
    UNFINISHED,
    UNREAD,
    OutsideReport,
    sort_tests,
)
from app.runners.evaluators.testing.pytest_outside.repeating import RepeatingFunction
from app.runners.evaluators.testing.pytest_outside.wire import ENDED
from app.workspaces.process import ProcessOutcome


@dataclass(frozen=True, slots=True)
class OutsideRun:
    """The results of tests that ran away from the candidate's code.

    Attributes:
        records: the records of the judge's process, by test id.
        missing: by file, or `""` for all, why there is no record.
        seconds: wall-clock duration.
        repeating: the functions that know nothing but what tests ask.
        equal_kinds: classes whose equality made an object equal to one of another class.
        broken: why the connection broke, after which no test had a record; empty if it did not.
    """

    records: Mapping[str, Mapping[str, Any]]
    missing: Mapping[str, str]
    seconds: float
    repeating: tuple[RepeatingFunction, ...] = ()
    equal_kinds: tuple[str, ...] = ()
    broken: str = ""

    @property
    def first_unread(self) -> str:
        """The first file that could not be imported; empty if there is none."""
        return next(filter(None, self.missing), "")

    def left_of(self, ids: Collection[str]) -> list[str]:
        """Return the tests that have no record."""
        return [each for each in ids if each not in self.records]

    def joined(self, later: "OutsideRun") -> "OutsideRun":
        """Return the results of this run and of a later one with the tests that this one left."""
        repeating = {each.name: each for each in (*self.repeating, *later.repeating)}
        return OutsideRun(
            {**self.records, **later.records},
            later.missing,
            self.seconds + later.seconds,
            tuple(repeating.values()),
            tuple(dict.fromkeys((*self.equal_kinds, *later.equal_kinds))),
            later.broken,
        )

    def report(self, ids: Collection[str], quick: Collection[str] = ()) -> OutsideReport:
        """Return the report for tests that passed beside the candidate's code, `quick` ones among them."""
        report = sort_tests(list(ids), self.records, self.missing, quick)
        kinds = self.equal_kinds
        return replace(report, seconds=self.seconds, repeating=self.repeating, equal_kinds=kinds)


def read_records(outcome: ProcessOutcome, candidate: ProcessOutcome | None, *, seconds: float) -> OutsideRun:
    """Read what the judge's process wrote.

    Args:
        outcome: how the judge's process ended.
        candidate: how the candidate's did, if that was first.
        seconds: how long both took.
    """
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in _lines(outcome.stdout):
        kinds[str(each.get("kind"))].append(each)
    records: dict[str, Mapping[str, Any]] = {str(each["id"]): each for each in kinds["test"]}
    missing = {"": UNFINISHED} if outcome.timed_out else dict[str, str]()
    missing |= {str(each["id"]).split("::", 1)[0]: UNREAD for each in kinds["problem"]}
    _blame(records, candidate)
    return OutsideRun(
        records,
        missing,
        seconds,
        repeating=tuple(map(RepeatingFunction.read, kinds["repeats"])),
        equal_kinds=tuple(str(name) for each in kinds["equals"] for name in each["classes"]),
        broken=next((str(each.get("broken") or "") for each in kinds["finish"]), ""),
    )


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            record: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield cast("dict[str, Any]", record)


def _blame(records: dict[str, Mapping[str, Any]], candidate: ProcessOutcome | None) -> None:
    """Blame the test in which the candidate ended its own process, or its connection to the judge.

    A process that the time limit ended is not to blame.
    """
    if candidate is not None and candidate.timed_out:
        return
    for test, record in records.items():
        if ENDED in record.get("hard", ()):
            records[test] = {**record, "findings": ["the candidate's code ends its own process"]}
            return
