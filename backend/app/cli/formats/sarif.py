"""The report as SARIF 2.1.0, which code scanning services and editors read."""

import json
from typing import Any
from urllib.parse import quote

from app.cli.formats.report import JudgedReport
from app.services.local.findings import ReportedFinding

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(judged: JudgedReport) -> str:
    """Return one run with a result for each finding."""
    report = judged.report
    rules = list(dict.fromkeys(_rule(each) for each in judged.findings))
    run = {
        "tool": {
            "driver": {
                "name": "PhaseRunner",
                "version": judged.version,
                "rules": [{"id": each, "shortDescription": {"text": each}} for each in rules],
            }
        },
        "invocations": [{"executionSuccessful": report.verdict != "errored"}],
        "results": [_result(each, mark, rules.index(_rule(each))) for each, mark in judged.fingerprints()],
        "properties": {
            "verdict": report.verdict,
            "reason": report.reason,
            "phase": report.phase,
            "baseCommit": report.base_commit,
        },
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: ReportedFinding, fingerprint: str, rule: int) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if finding.path:
        physical: dict[str, Any] = {
            "artifactLocation": {"uri": quote(finding.path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": finding.line or 1},
        }
        place = {"locations": [{"physicalLocation": physical}]}
    return {
        "ruleId": _rule(finding),
        "ruleIndex": rule,
        "level": finding.level,
        "message": {"text": finding.message},
        **place,
        "partialFingerprints": {"phaserunner/v1": fingerprint},
    }


def _rule(finding: ReportedFinding) -> str:
    # A failing test is not a rule; its id is in the message.
    if "::" in finding.rule or finding.rule == finding.evaluator:
        return finding.evaluator
    return f"{finding.evaluator}/{finding.rule}"
