"""The results of the tests outside the candidate's process."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from app.runners.evaluators.testing.pytest_outside.notes import PRINTS, WARNS
from app.runners.evaluators.testing.pytest_outside.repeating import RepeatingFunction
from app.runners.evaluators.testing.pytest_outside.wire import SILENT

UNREAD = "its file cannot be imported there"
UNFINISHED = "the tests did not finish there"
_LISTED = 20
_ABOUT = {WARNS: "warnings", PRINTS: "output"}


@dataclass(frozen=True, slots=True)
class OutsideReport:
    """The tests that passed beside the candidate's code, sorted by their results away from it.

    Attributes:
        agrees: ids of tests that pass there, too.
        uncarried: by id, why a test is no evidence there.
        disagrees: by id, the evidence against the candidate.
        trouble: why no test could be judged; `""` if they were.
        seconds: wall-clock duration.
        repeating: the functions that know nothing but what tests ask.
        absent: by id, why the code gives no answer there although its own process could give one. Only a run
            of the base's code shows whether that says anything.
        equal_kinds: classes whose own equality made an object equal to one of another class.
    """

    agrees: tuple[str, ...] = ()
    uncarried: Mapping[str, str] = field(default_factory=dict[str, str])
    disagrees: Mapping[str, str] = field(default_factory=dict[str, str])
    trouble: str = ""
    seconds: float = 0.0
    repeating: tuple[RepeatingFunction, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict[str, str])
    equal_kinds: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        """True if at least one test is evidence."""
        return bool(self.agrees or self.disagrees)

    def confirmed_by(self, other: "OutsideReport") -> "OutsideReport":
        """Return the report with only the findings that another run has, too."""
        once = self.disagrees.keys() - other.disagrees.keys()
        reason = "it fails there in one run, and not in another"
        return replace(
            self,
            uncarried={**self.uncarried, **dict.fromkeys(sorted(once), reason)},
            disagrees={name: why for name, why in self.disagrees.items() if name not in once},
        )

    def without(self, tests: Collection[str]) -> "OutsideReport":
        """Return the report without findings for tests that the base's own code does not pass there."""
        reason = "it does not pass there with the base's code either"
        return replace(
            self,
            uncarried={**self.uncarried, **{each: reason for each in tests if each in self.disagrees}},
            disagrees={name: why for name, why in self.disagrees.items() if name not in tests},
        )

    def metadata(self) -> dict[str, Any]:
        """Return the figures that are stored with an evaluation."""
        return {
            "agrees": len(self.agrees),
            "uncarried": len(self.uncarried),
            "disagrees": list(self.disagrees)[:_LISTED],
            "reasons": reasons(self.uncarried),
            **({"trouble": self.trouble} if self.trouble else {}),
            "seconds": round(self.seconds, 3),
        }


def reasons(uncarried: Mapping[str, str]) -> dict[str, int]:
    """Count why tests were not carried, most frequent reasons first."""
    counts: dict[str, int] = {}
    for reason in uncarried.values():
        counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: -each[1])[:_LISTED])


def sort_tests(
    ids: Sequence[str],
    records: Mapping[str, Mapping[str, Any]],
    missing: Mapping[str, str],
    quick: Collection[str] = (),
) -> OutsideReport:
    """Sort tests by their records.

    A pass counts if nothing contradicts it; a failure, if nothing else could have caused it.

    Args:
        ids: the tests in question.
        records: the records of the judge's process, by test id.
        missing: by file, or `""` for all, why there is no record.
        quick: the tests that took almost no time beside the candidate's code.
    """
    agrees: list[str] = []
    uncarried: dict[str, str] = {}
    disagrees: dict[str, str] = {}
    absent: dict[str, str] = {}
    quick = frozenset(quick)
    for test in ids:
        if why := _absence(test, records, missing):
            absent[test] = why
        record = records.get(test)
        if record is None:
            uncarried[test] = missing.get(test.split("::", 1)[0]) or missing.get("") or "it did not run"
        elif findings := _texts(record, "findings"):
            disagrees[test] = findings[0]
        elif test in quick and SILENT in _texts(record, "hard") and not _texts(record, "doubts"):
            disagrees[test] = "the candidate's code does not return"
        elif reason := _doubt(record):
            uncarried[test] = reason
        elif record.get("outcome") == "failed":
            disagrees[test] = str(record.get("message", ""))
        else:
            agrees.append(test)
    return OutsideReport(tuple(agrees), uncarried, disagrees, absent=absent)


def _absence(test: str, records: Mapping[str, Mapping[str, Any]], missing: Mapping[str, str]) -> str:
    """Return how the candidate's process left a test without an answer, or `""`."""
    record = records.get(test)
    if record is None:
        why = missing.get(test.split("::", 1)[0], "")
        # A run that began has only been too long.
        return why if why or records else missing.get("", "") or UNFINISHED
    if SILENT in _texts(record, "hard"):
        return SILENT
    is_of_system = record.get("outcome") == "failed" and record.get("origin") == "system"
    return str(record.get("message", "")) if is_of_system and not _texts(record, "doubts") else ""


def _doubt(record: Mapping[str, Any]) -> str:
    """Return why a test is no evidence either way, or `""`."""
    hard = _texts(record, "hard")
    if hard:
        return hard[0]
    outcome = record.get("outcome")
    if outcome == "passed":
        return ""
    if outcome != "failed":
        return "it is skipped there"
    if record.get("origin") not in ("assertion", "candidate"):
        return "it cannot run there"
    soft = [each for each in _texts(record, "soft") if _matters(each, record)]
    causes = [*soft, *(f"it uses {each}" for each in _texts(record, "doubts"))]
    return causes[0] if causes else ""


def _matters(reason: str, record: Mapping[str, Any]) -> bool:
    """Return True if a remark can explain a test's failure. Warnings can only if it looks at warnings."""
    about = _ABOUT.get(reason)
    return about is None or about in _texts(record, "uses")


def _texts(record: Mapping[str, Any], name: str) -> list[str]:
    found: object = record.get(name)
    return [str(each) for each in cast("list[object]", found)] if isinstance(found, list) else []
