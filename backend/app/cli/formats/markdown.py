"""The report as Markdown for a comment or a job summary."""

import re
from html import escape

from app.cli.formats.report import JudgedReport
from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.api.workspace_reports import JudgedEvaluation
from app.services.local.findings import ReportedFinding

_ICONS = {"passed": "✅", "failed": "❌", "errored": "⚠️", "asks": "❓", "skipped": "⏭️"}
_SPECIAL = re.compile(r"([\\`*_\[\]|~#!])")
_LISTED = 30
_LINE_CHARS = 400


def render(judged: JudgedReport) -> str:
    """Return the verdict, a table of the evaluators, the findings and the questions."""
    report = judged.report
    lines = [
        f"### {_ICONS.get(report.verdict, '')} PhaseRunner: {report.verdict}",
        "",
        _text(report.reason),
        "",
    ]
    lines += ["| Evaluator | Result | Decides |", "|---|---|---|"]
    for each in report.evaluations:
        result = EvaluationResult.model_validate(each.result)
        status = result.status.value
        name = _text(result.evaluator_name)
        lines.append(f"| {name} | {_ICONS[status]} {status} | {_decides(each)} |")
    lines += ["", *map(_finding, judged.findings[:_LISTED])]
    more = len(judged.findings) - _LISTED
    lines += [f"- and {more} more"] if more > 0 else []
    lines += [f"- ❓ {_text(each.text)}" for each in report.questions]
    if report.base_commit:
        lines += ["", f"Evaluated against `{report.base_commit[:12]}`."]
    return "\n".join(lines).rstrip() + "\n"


def _decides(each: JudgedEvaluation) -> str:
    return "yes" if each.gate else "observed" if each.observed else "no"


def _finding(finding: ReportedFinding) -> str:
    place = f"{_text(finding.place)}: " if finding.place else ""
    advice = " (advice)" if finding.level == "note" else ""
    return f"- {place}{_text(finding.message)} ({_text(finding.evaluator)}){advice}"


def _text(text: str) -> str:
    """Escape text, so that the evaluated code cannot create markup, links or mentions of people."""
    plain = " ".join(text.split())[:_LINE_CHARS]
    return _SPECIAL.sub(r"\\\1", escape(plain, quote=False)).replace("@", "&#64;")
