"""Writes texts for people on a forge: the description of a pull request, the comment on an issue."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.forges.goals import fenced
from app.forges.templates import DESCRIPTION, TITLE, fill
from app.schemas.api.attempts import AttemptView, EvaluationView
from app.schemas.api.run_details import RunDetail
from app.schemas.runs import RunStatus

BEGIN = "<!-- phaserunner:begin -->"
END = "<!-- phaserunner:end -->"

_MAX_CELL = 300
_MAX_GOAL = 4_000
_MAX_FILES = 50
_MAX_TITLE = 200
_MAX_BODY = 60_000
_NUMBERS = ("passed_tests", "failed_tests", "error_count", "tests", "total")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed file and the numbers of its added and deleted lines."""

    path: str
    additions: int
    deletions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """The facts about a run for descriptions.

    Attributes:
        run: the run as the API shows it.
        files: the files that the result changes.
        issue: number of the issue that it resolves.
        link: the run's page, if the operator named one.
        problem: why the result could not be offered.
        next_step: what happens after that.
    """

    run: RunDetail
    files: Sequence[FileChange] = ()
    issue: int | None = None
    link: str | None = None
    problem: str = ""
    next_step: str = ""


def marker_of(run_id: UUID) -> str:
    """Return the text that identifies the comment of a run."""
    return f"<!-- phaserunner:run:{run_id} -->"


def title_of(facts: ReportFacts, template: str = TITLE) -> str:
    """Return the title of the pull request."""
    return " ".join(fill(template, _names(facts)).split())[:_MAX_TITLE]


def pull_request_body(facts: ReportFacts, before: str = "", template: str = DESCRIPTION) -> str:
    """Return the description of the pull request; people's text outside the marked section stays."""
    section = "\n".join([BEGIN, fill(template, _values(facts)).strip()[:_MAX_BODY], END])
    if BEGIN not in before or END not in before:
        return f"{before.rstrip()}\n\n{section}" if before.strip() else section
    head, _, rest = before.partition(BEGIN)
    return f"{head}{section}{rest.partition(END)[2]}"


def comment_body(facts: ReportFacts, pull_url: str | None, marker: str) -> str:
    """Return the text of the comment on the issue, which starts with its marker."""
    run = facts.run
    lines = [marker, f"**PhaseRunner**: {_state(run)}"]
    if run.status_reason:
        lines += ["", cell(run.status_reason)]
    if hidden := _hidden(run):
        lines += ["", cell(hidden)]
    if facts.problem:
        lines += ["", f"The result is not offered: {cell(facts.problem)}"]
    if facts.next_step:
        lines += ["", cell(facts.next_step)]
    if pull_url:
        lines += ["", f"Pull request: {pull_url}"]
    lines += ["", _footer(facts)]
    return "\n".join(lines)


def _hidden(run: RunDetail) -> str:
    """Return how many test cases are hidden, or why a default hides none."""
    held = run.held_out
    if held is None or (held.cases is None and held.files):
        return ""
    # The note of hidden cases may quote what the tests print.
    return held.note if held.cases is None else held.cases.in_words()


def cell(text: str) -> str:
    """Make untrusted text safe within a line: no markup, no mention, no reference, one line."""
    line = " ".join(text.split())
    line = line if len(line) <= _MAX_CELL else f"{line[: _MAX_CELL - 1]}…"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*_{}\[\]|~!])", r"\\\1", line)
    return line.replace("#", "&#35;").replace("@", "&#64;")


def _names(facts: ReportFacts) -> dict[str, str]:
    run = facts.run
    return {
        "name": " ".join(run.name.split()),
        "issue": "none" if facts.issue is None else str(facts.issue),
        "run": str(run.id)[:8],
    }


def _values(facts: ReportFacts) -> dict[str, str]:
    names = _names(facts)
    return {
        **names,
        "name": cell(names["name"]),
        "state": _state(facts.run),
        "closes": "" if facts.issue is None else f"Closes #{facts.issue}",
        "goal": fenced(_cut(facts.run.goal)),
        "changes": "\n".join(_changes(facts.files)),
        "evidence": "\n".join(_evidence(facts.run)),
        "summary": _footer(facts),
    }


def _changes(files: Sequence[FileChange]) -> list[str]:
    if not files:
        return ["No file changes."]
    lines = ["| File | Added | Removed |", "|---|--:|--:|"]
    lines += [f"| {cell(each.path)} | {each.additions} | {each.deletions} |" for each in files[:_MAX_FILES]]
    if len(files) > _MAX_FILES:
        lines.append(f"| and {len(files) - _MAX_FILES} more | | |")
    return lines


def _evidence(run: RunDetail) -> list[str]:
    judged = [each for each in _last_attempts(run.attempts) if each.evaluations]
    if not judged:
        return ["Nothing was judged."]
    lines = ["| Phase | Evaluator | Verdict | Score | What it found | Numbers |", "|---|---|---|--:|---|---|"]
    for attempt in judged:
        lines += [_row(attempt, each) for each in attempt.evaluations]
    return lines


def _row(attempt: AttemptView, found: EvaluationView) -> str:
    part = "gate" if found.gate else "observed" if found.observed else "adviser"
    numbers = ", ".join(
        f"{name.replace('_', ' ')} {found.metadata[name]}"
        for name in _NUMBERS
        if isinstance(found.metadata.get(name), int)
    )
    columns = [
        cell(attempt.phase),
        f"{cell(found.evaluator)} {cell(found.version)} ({part})",
        cell(found.status),
        f"{found.score:.2f}",
        cell(found.feedback),
        cell(numbers),
    ]
    return f"| {' | '.join(columns)} |"


def _last_attempts(attempts: Sequence[AttemptView]) -> list[AttemptView]:
    return list({each.phase: each for each in attempts}.values())


def _footer(facts: ReportFacts) -> str:
    run = facts.run
    attempts = len(run.attempts)
    parts = [f"{attempts} attempt{'' if attempts == 1 else 's'}", f"agent {cell(run.agent)}"]
    cost = run.usage.cost_usd
    parts.append("cost unknown" if cost is None else f"cost ${cost:.2f}")
    where = f"[run {str(run.id)[:8]}]({facts.link})" if facts.link else f"run {str(run.id)[:8]}"
    return f"{where}: {', '.join(parts)}."


def _state(run: RunDetail) -> str:
    match run.status:
        case RunStatus.COMPLETED if run.accepted_by:
            by = cell(", ".join(run.accepted_by))
            return f"The gates did not pass all of this result. {by} accepted it."
        case RunStatus.COMPLETED:
            return "The gates passed this result."
        case RunStatus.WAITING:
            return "The gates have not passed this result. A human is asked."
        case RunStatus.FAILED:
            return "The run failed."
        case RunStatus.CANCELLED:
            return "The run was stopped."
        case _:
            return "The run has started."


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_GOAL else f"{text[: _MAX_GOAL - 1]}…"
