"""Workflow commands of GitHub Actions, which annotate lines of a pull request."""

from app.cli.formats.report import JudgedReport
from app.services.local.findings import ReportedFinding

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(judged: JudgedReport) -> str:
    """Return one command for each finding, and a notice with the verdict at the end."""
    report = judged.report
    lines = [_annotation(each) for each in judged.findings]
    lines.append(f"::notice title=PhaseRunner::{_data(f'{report.verdict}: {report.reason}')}")
    return "\n".join(lines) + "\n"


def _annotation(finding: ReportedFinding) -> str:
    title = finding.evaluator if finding.rule == finding.evaluator else f"{finding.evaluator}: {finding.rule}"
    properties = {"title": title[:200]}
    if finding.path:
        properties = {"file": finding.path, "line": str(finding.line or 1), **properties}
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.level]} {given}::{_data(finding.message)}"


def _data(text: str) -> str:
    # A line break would start another command, so the evaluated code could issue one.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
