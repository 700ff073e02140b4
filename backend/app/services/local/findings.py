"""Turns evaluation results into findings with path and line, for every format. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.api.workspace_reports import EvaluationReport

VERDICT = "verdict"
"""Names the evaluator of a finding that no single evaluator made."""

Level = Literal["error", "warning", "note"]

_ORDER: dict[Level, int] = {"error": 0, "warning": 1, "note": 2}
_MESSAGE_CHARS = 2000
_MAX_LINE = 10_000_000
_PLACE = re.compile(
    r"(?P<path>[^\s:][^:\n]{0,400}):(?P<line>[1-9]\d{0,6})(?::\d+)?:?\s+(?P<text>.*)", re.DOTALL
)
_FIRST_LINES = re.compile(r"(?P<path>[^\s:][^:\n]{0,400}): (?P<line>[1-9]\d{0,6})\b")


class ReportedFinding(BaseModel):
    """One problem of a workspace.

    Attributes:
        evaluator: the evaluator that found it.
        level: `error` if it made a gate fail; `warning` if a gate reached no verdict or asks a reviewer;
            `note` if it only advises.
        rule: the tool's rule, the test's id, or the evaluator's criterion.
        message: what is wrong, in the evaluator's words.
        path: POSIX path relative to the evaluated directory; None if the problem is in no file.
        line: counts from 1.
    """

    model_config = ConfigDict(frozen=True)

    evaluator: str
    level: Level
    rule: str
    message: str
    path: str | None = None
    line: int | None = Field(default=None, ge=1)

    @property
    def place(self) -> str:
        """Return `path:line`, `path` or `""`."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path or ""


def findings_of(report: EvaluationReport) -> list[ReportedFinding]:
    """Return every finding of a report, most urgent first."""
    found: list[ReportedFinding] = []
    for each in report.evaluations:
        try:
            result = EvaluationResult.model_validate(each.result)
        except ValidationError:  # the report is of another version
            continue
        found += findings_in(result, gate=each.gate)
    if report.verdict != "passed" and not any(each.level != "note" for each in found):
        level: Level = "error" if report.verdict == "failed" else "warning"
        found.append(_finding(VERDICT, level, report.verdict, report.reason))
    return sorted(found, key=lambda each: (_ORDER[each.level], each.path is None))


def findings_in(result: EvaluationResult, *, gate: bool) -> Iterator[ReportedFinding]:
    """Yield the findings of one result; a result that passed has at most advice."""
    name = result.evaluator_name
    yield from _of_tool(name, "note", result.metadata.get("advice"))
    if result.status in (EvaluationStatus.PASSED, EvaluationStatus.SKIPPED):
        return
    level = _level(result, gate=gate)
    if result.status is EvaluationStatus.ERRORED:
        yield _finding(name, level, "no_verdict", result.feedback)
        return
    specific = [
        *_of_tool(name, level, result.metadata.get("findings")),
        *_of_files(result, level),
        *_of_tests(result, level),
    ]
    yield from specific or _of_words(result, level)


def _level(result: EvaluationResult, *, gate: bool) -> Level:
    if not gate:
        return "note"
    return "warning" if result.questions or result.status is EvaluationStatus.ERRORED else "error"


def _of_tool(name: str, level: Level, listed: object) -> Iterator[ReportedFinding]:
    """Yield the findings of linters, type checkers and SARIF reports, which give rule, file and line."""
    for each in _mappings(listed):
        yield _finding(
            name,
            level,
            str(each.get("rule") or name),
            str(each.get("message") or each.get("rule") or name),
            str(each.get("file") or ""),
            each.get("line"),
        )


def _of_files(result: EvaluationResult, level: Level) -> Iterator[ReportedFinding]:
    """Yield the protected files that were changed; each failed criterion is named like its file."""
    changed = set(_texts(result.metadata.get("tampered")))
    for each in result.failed_criteria:
        if each.criterion in changed:
            yield _finding(result.evaluator_name, level, "protected", each.message, each.criterion)


def _of_tests(result: EvaluationResult, level: Level) -> Iterator[ReportedFinding]:
    """Yield the failing tests, at the assertion's place if it is reported, else at the test's file."""
    told = [*result.feedback.splitlines(), *result.suggestions]
    for test in _texts(result.metadata.get("failing")):
        mark = f"Fix {test}: "
        message = next((line.partition(mark)[2] for line in told if mark in line), "failed")
        placed = _placed(message)
        path, line = placed if placed else (test.partition("::")[0], None)
        yield _finding(result.evaluator_name, level, test, f"{test}: {message}", path, line)


def _of_words(result: EvaluationResult, level: Level) -> Iterator[ReportedFinding]:
    """Yield the suggestions of other evaluators.

    A suggestion has a place only if it starts with one or lists lines of a file.
    """
    texts = result.suggestions or [result.feedback.partition("\n")[0]]
    for each in texts:
        text = each.removeprefix("Add tests that execute ")
        match = _PLACE.match(text) or _FIRST_LINES.match(text)
        path, line = (match["path"], int(match["line"])) if match else ("", None)
        yield _finding(result.evaluator_name, level, result.evaluator_name, each, path, line)


def _placed(message: str) -> tuple[str, int] | None:
    match = _PLACE.match(message)
    if match is None or _inside(match["path"]) is None:
        return None
    return match["path"], int(match["line"])


def _finding(
    evaluator: str, level: Level, rule: str, message: str, path: str = "", line: object = None
) -> ReportedFinding:
    inside = _inside(path)
    known = (
        inside is not None and isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _MAX_LINE
    )
    return ReportedFinding(
        evaluator=evaluator,
        level=level,
        rule=rule.strip()[:500] or evaluator,
        message=message.strip()[:_MESSAGE_CHARS] or rule,
        path=inside,
        line=cast("int", line) if known else None,
    )


def _inside(path: str) -> str | None:
    """Return a path below the evaluated directory; None for other paths, which readers could not open."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path or "\n" in path:
        return None
    return str(PurePosixPath(*parts))


def _mappings(value: object) -> Iterable[Mapping[str, Any]]:
    listed = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    return [cast("Mapping[str, Any]", each) for each in listed if isinstance(each, Mapping)]


def _texts(value: object) -> list[str]:
    listed = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    return [each for each in listed if isinstance(each, str)]
