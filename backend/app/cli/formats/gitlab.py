"""GitLab's code quality report, which the merge request shows next to the lines."""

import json

from app.cli.formats.report import JudgedReport

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(judged: JudgedReport) -> str:
    """Return the report. A finding without a file is placed at the directory's first line."""
    issues = [
        {
            "description": f"{finding.evaluator}: {finding.message}",
            "check_name": f"{finding.evaluator}/{finding.rule}",
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.level],
            "location": {"path": finding.path or ".", "lines": {"begin": finding.line or 1}},
        }
        for finding, fingerprint in judged.fingerprints()
    ]
    return json.dumps(issues, indent=2) + "\n"
