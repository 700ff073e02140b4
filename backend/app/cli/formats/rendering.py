"""Writes an evaluation report in any of the text formats for other programs."""

import json
from collections.abc import Mapping

from app.cli.formats import github, gitlab, json_report, junit_xml, markdown, sarif
from app.cli.formats.names import ReportFormat
from app.cli.formats.report import JudgedReport, Render

_RENDERERS: Mapping[ReportFormat, Render] = {
    ReportFormat.JSON: lambda judged: json.dumps(json_report.document(judged), indent=2) + "\n",
    ReportFormat.GITHUB: github.render,
    ReportFormat.GITLAB: gitlab.render,
    ReportFormat.SARIF: sarif.render,
    ReportFormat.JUNIT: junit_xml.render,
    ReportFormat.MARKDOWN: markdown.render,
}


def render(judged: JudgedReport, wanted: ReportFormat) -> str:
    """Return the report as text. TEXT is the terminal's own format and has no renderer here."""
    return _RENDERERS[wanted](judged)
