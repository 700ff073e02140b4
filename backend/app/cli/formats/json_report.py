"""The report as JSON: what the API gives, and its findings."""

from typing import Any

from app.cli.formats.report import Judged


def document(judged: Judged) -> dict[str, Any]:
    """Return the report as plain data."""
    found = [each.model_dump(mode="json") for each in judged.findings]
    return {**judged.report.model_dump(mode="json"), "findings": found}
