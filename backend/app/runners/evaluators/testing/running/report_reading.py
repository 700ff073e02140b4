"""Reads the records of a test run and decides whether they can be trusted."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from app.runners.evaluators.testing.running.records import read_records
from app.runners.evaluators.testing.running.report import (
    CollectProblem,
    Outcome,
    PytestEnding,
    RanTest,
    RunReport,
)
from app.runners.evaluators.testing.running.secret import RunSecret, all_ran, wrong_canaries
from app.workspaces.process import ProcessOutcome

_INTERNAL_ERROR, _USAGE_ERROR = 3, 4
"""Exit codes of pytest."""

_OLDEST_PYTEST = (7, 4)
_SHELL_SIGNAL = 128


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
        skipped=tuple(_named(records, "skipped", "ids")),
        left_out=tuple(_named(records, "left_out", "ids")),
        forged=(*wrong_canaries(secret, canaries), *(f"{name} was replaced" for name in replaced)),
        altered=tuple(_named(records, "altered", "by_candidate")),
        altered_by_others=tuple(_named(records, "altered", "by_others")),
        noticed={
            str(name): tuple(map(str, files))
            for each in records
            if each["kind"] == "altered"
            for name, files in each["noticed"].items()
        },
        wide=tuple(_named(records, "wide", "names")),
        wide_by_others=tuple(_named(records, "wide", "others")),
        ran_lines=_ran_lines(records),
        canaries_ran=all_ran(secret, canaries),
        foreign={str(each["id"]): str(each["place"]) for each in records if each["kind"] == "foreign"},
        version=str(records[0].get("pytest", "")) if records else "",
    )


def _named(records: Iterable[Mapping[str, Any]], kind: str, field: str) -> list[str]:
    return [str(name) for each in records if each["kind"] == kind for name in each[field]]


def _ran_lines(records: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[int]] | None:
    """Return the lines of each watched file that ran; None if the process did not tell."""
    found = {
        str(each["file"]): frozenset(map(int, each["lines"])) for each in records if each["kind"] == "ran"
    }
    return found or None


def _test(record: Mapping[str, Any]) -> RanTest:
    return RanTest(
        str(record["id"]),
        Outcome(record["outcome"]),
        float(record["seconds"]),
        str(record["message"]),
        tuple(map(str, record.get("files", ()))),
        record.get("sought_network") is True,
        str(record.get("line", "")),
        record.get("unexpected") is True,
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
