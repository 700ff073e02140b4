"""What the judge said of real changes: one JSON line for each, and the table made of them."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.intervals import wilson
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.schemas.api.workspace_reports import EvaluationReport
from benchmarks.machine import machine
from benchmarks.real_commit_cases import Case

TITLE = "real commits: honest changes of people to well-known projects, judged by the coding phase's gates"

_REASON_CHARS = 400
_SPEAKING = (EvaluationStatus.FAILED, EvaluationStatus.ERRORED)


class Outcome(StrEnum):
    """How a case ended; `ASKED` means that a person gets one precise question and no attempt is lost."""

    PASSED = "passed"
    ASKED = "asked"
    FAILED = "failed"
    NO_VERDICT = "no verdict"


_OUTCOMES = {"passed": Outcome.PASSED, "asks": Outcome.ASKED, "failed": Outcome.FAILED}
"""By verdict; every other verdict is none."""


class GateOutcome(BaseModel):
    """What one gate said.

    Attributes:
        gate: its name.
        status: passed, failed, errored or skipped.
        reason: the start of its feedback where it failed or errored, else empty.
        seconds: wall clock; None where the gate does not say.
        asks: whether it only asks questions.
    """

    model_config = ConfigDict(frozen=True)

    gate: str
    status: str
    reason: str
    seconds: float | None
    asks: bool = False


class JudgedCase(BaseModel):
    """One line of the results.

    Attributes:
        case: the case's name.
        project: its project.
        outcome: how it ended.
        gate: the first gate that failed or gave no verdict; empty after a pass.
        reason: what that gate said first, or why the case could not be judged.
        gates: every gate that took part.
        seconds: wall clock of the judgement.
    """

    model_config = ConfigDict(frozen=True)

    case: str
    project: str
    outcome: Outcome
    gate: str = ""
    reason: str = ""
    gates: tuple[GateOutcome, ...] = ()
    seconds: float


def judged(case: Case, report: EvaluationReport, seconds: float) -> JudgedCase:
    """Say in one line what a report means for a case."""
    results = [EvaluationResult.model_validate(each.result) for each in report.evaluations if each.gate]
    gates = tuple(map(_gate_outcome, results))
    outcome = _OUTCOMES.get(report.verdict, Outcome.NO_VERDICT)
    decisive = [each for each in gates if each.status == _decisive(outcome)]
    # A gate that only asks explains no fail, unless it is the only one there is.
    first = next((each for each in decisive if not each.asks), next(iter(decisive), None))
    return JudgedCase(
        case=case.name,
        project=case.project,
        outcome=outcome,
        gate=first.gate if first and outcome is not Outcome.PASSED else "",
        reason=_reason(report, outcome, first),
        gates=gates,
        seconds=round(seconds, 1),
    )


def unjudged(case: Case, why: str, seconds: float) -> JudgedCase:
    """Record a case that came to no report: it could not be laid out, or its time was up."""
    return JudgedCase(
        case=case.name,
        project=case.project,
        outcome=Outcome.NO_VERDICT,
        reason=why[:_REASON_CHARS],
        seconds=round(seconds, 1),
    )


def read_results(path: Path) -> list[JudgedCase]:
    """Return the last result of each case; a line that was cut off by the end of a run is left out."""
    if not path.exists():
        return []
    found: dict[str, JudgedCase] = {}
    for line in path.read_text("utf-8").splitlines():
        try:
            result = JudgedCase.model_validate_json(line)
        except ValidationError:
            continue
        found[result.case] = result
    return list(found.values())


def add_result(path: Path, result: JudgedCase) -> None:
    """Add one line; a line that the end of an earlier run cut off stays by itself."""
    before = path.read_bytes() if path.exists() else b""
    start = "\n" if before and not before.endswith(b"\n") else ""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{start}{result.model_dump_json()}\n")


def table(results: Sequence[JudgedCase], rightly_refused: Mapping[str, str]) -> str:
    """Return everything as Markdown: shares with 95 % Wilson intervals, projects, and each case not passed.

    Args:
        results: at least one.
        rightly_refused: by case, why a careful person would refuse it, too.
    """
    lines = [f"{TITLE}\n\n{machine()}\n", *_shares(results, rightly_refused), "", *_projects(results), ""]
    lines += ["| Case | Outcome | Gate | Why |", "|---|---|---|---|"]
    lines += [
        f"| `{each.case}` | {each.outcome} | {each.gate} | {_cell(each.reason)} |"
        for each in sorted(results, key=lambda each: (each.outcome, each.gate, each.case))
        if each.outcome is not Outcome.PASSED
    ]
    return "\n".join(lines)


def _shares(results: Sequence[JudgedCase], rightly_refused: Mapping[str, str]) -> Iterable[str]:
    yield "| | Count | Share | 95 % interval |"
    yield "|---|---:|---:|---:|"
    for outcome in Outcome:
        yield _share(str(outcome), [each.outcome is outcome for each in results])
    wrongly = [each.outcome is Outcome.FAILED and each.case not in rightly_refused for each in results]
    yield _share("failed, and no careful person would refuse it", wrongly)


def _share(name: str, hits: Sequence[bool]) -> str:
    count, of = sum(hits), len(hits)
    low, high = wilson(count, of)
    share = f"{100 * count / of:.1f} %" if of else "-"
    return f"| {name} | {count} of {of} | {share} | {100 * low:.1f} - {100 * high:.1f} % |"


def _projects(results: Sequence[JudgedCase]) -> Iterable[str]:
    yield f"| Project | n | {' | '.join(Outcome)} | Median seconds |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for project in sorted({each.project for each in results}):
        own = [each for each in results if each.project == project]
        counts = " | ".join(str(sum(each.outcome is outcome for each in own) or "") for outcome in Outcome)
        yield f"| {project} | {len(own)} | {counts} | {statistics.median(each.seconds for each in own):.0f} |"


def _gate_outcome(result: EvaluationResult) -> GateOutcome:
    return GateOutcome(
        gate=result.evaluator_name,
        status=str(result.status),
        reason=result.feedback[:_REASON_CHARS] if result.status in _SPEAKING else "",
        seconds=None if result.duration_ms is None else result.duration_ms / 1000,
        asks=bool(result.questions),
    )


def _decisive(outcome: Outcome) -> str:
    """Return the status of the gate that explains an outcome; a gate that asks has failed."""
    return str(EvaluationStatus.ERRORED if outcome is Outcome.NO_VERDICT else EvaluationStatus.FAILED)


def _reason(report: EvaluationReport, outcome: Outcome, first: GateOutcome | None) -> str:
    if outcome is Outcome.PASSED:
        return ""
    # A question is worded by the verdict, not by the gate that found the change.
    if first is None or outcome is Outcome.ASKED:
        return report.reason[:_REASON_CHARS]
    return first.reason


def _cell(text: str) -> str:
    return " ".join(text.split())[:_REASON_CHARS].replace("|", "\\|")
