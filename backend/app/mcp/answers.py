"""The results of tools: bounded, and worded so that an agent knows what to do first."""

from typing import Any, cast

from pydantic import BaseModel, Field

from app.runners.evaluators.protocol import EvaluationResult
from app.schemas.api.workspace_reports import EvaluationReport
from app.schemas.runs import RunStatus
from app.services.local.findings import ReportedFinding, findings_of

_FINDINGS = 100
_FEEDBACK_CHARS = 4000


class JudgedBy(BaseModel):
    """One evaluator's result."""

    evaluator: str
    status: str = Field(description="passed, failed, errored or skipped")
    gate: bool = Field(description="Whether it decides")
    feedback: str


class JudgedWorkspace(BaseModel):
    """The verdict on a directory."""

    verdict: str = Field(description="passed, failed, errored (no verdict) or asks (a reviewer must decide)")
    reason: str
    fix_first: str | None = Field(description="The most important finding; null if nothing failed")
    findings: list[ReportedFinding]
    more_findings: int = Field(description="Findings that are not listed")
    questions: list[str]
    evaluations: list[JudgedBy]
    score: float | None
    base_commit: str | None
    project_file: str | None


def judged_workspace(report: EvaluationReport) -> JudgedWorkspace:
    """Return a report as the tool's result."""
    found = findings_of(report)
    decisive = [each for each in found if each.level != "note"]
    results = [(EvaluationResult.model_validate(each.result), each.gate) for each in report.evaluations]
    return JudgedWorkspace(
        verdict=report.verdict,
        reason=report.reason,
        fix_first=_words(decisive[0]) if decisive else None,
        findings=found[:_FINDINGS],
        more_findings=max(0, len(found) - _FINDINGS),
        questions=[each.text for each in report.questions],
        evaluations=[
            JudgedBy(
                evaluator=result.evaluator_name,
                status=result.status.value,
                gate=gate,
                feedback=result.feedback[:_FEEDBACK_CHARS],
            )
            for result, gate in results
        ],
        score=report.score,
        base_commit=report.base_commit,
        project_file=report.project_file,
    )


def _words(finding: ReportedFinding) -> str:
    return f"{finding.place}: {finding.message}" if finding.place else finding.message


class RunSummary(BaseModel):
    """The state of a run."""

    id: str
    status: str
    reason: str
    phase: str | None
    attempt: int
    max_attempts: int
    escalation_id: str | None
    rests: bool = Field(description="Whether it has ended, is paused, or waits for a reviewer")
    failures: list[str] = Field(description="What the last evaluated attempt's gates found")


def run_status(document: dict[str, Any]) -> RunSummary:
    """Return a run that the service shows as the tool's result."""
    attempts = cast("list[dict[str, Any]]", document.get("attempts", []))
    judged = [
        cast("list[dict[str, Any]]", each["evaluations"]) for each in attempts if each.get("evaluations")
    ]
    last = judged[-1] if judged else []
    status = RunStatus(document["status"])
    failed = [each for each in last if each.get("gate") and each.get("status") in ("failed", "errored")]
    return RunSummary(
        id=document["id"],
        status=document["status"],
        reason=document.get("status_reason") or "",
        phase=document.get("phase"),
        attempt=document.get("attempt") or 0,
        max_attempts=document.get("max_attempts") or 0,
        escalation_id=document.get("escalation_id"),
        rests=status is RunStatus.WAITING or status.is_final or document.get("paused") is not None,
        failures=[f"{each['evaluator']}: {each['feedback'][:_FEEDBACK_CHARS]}" for each in failed],
    )
