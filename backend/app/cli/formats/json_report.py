"""The report as JSON: the API's report, with its findings."""

from typing import Any

from app.cli.formats.report import JudgedReport


def document(judged: JudgedReport) -> dict[str, Any]:
    """Return the report as plain data."""
    found = [each.model_dump(mode="json") for each in judged.findings]
    return {**judged.report.model_dump(mode="json"), "findings": found}
