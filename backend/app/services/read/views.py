"""Builds the API's views from stored rows."""

from collections.abc import Mapping, Sequence
from typing import Literal
from uuid import UUID

from app.db.models import Attempt, Candidate, Escalation, Evaluation, Run, VerdictMark
from app.runners.decision import attempts_allowed
from app.schemas.agents import AgentSpec, agent_label
from app.schemas.api.attempts import AttemptView, CandidateView, EvaluationView
from app.schemas.api.escalations import EscalationView, LineComment
from app.schemas.api.marks import MarkKind, MarkView
from app.schemas.api.runs import ForkOrigin, PauseView, PhaseView, RunView
from app.schemas.forges import ForgeView
from app.schemas.questions import Question
from app.schemas.runs import (
    AttemptState,
    EscalationDecision,
    EscalationReason,
    RunKind,
    RunPolicy,
    RunStatus,
    Usage,
)
from app.services.record.history import escalation_facts
from app.services.record.known_failures import project_of
from app.services.record.ledger import run_usage

Marks = Mapping[UUID, Sequence[VerdictMark]]
"""Marks by the id of their evaluation, newest first."""


def run_view(
    run: Run,
    attempts: Sequence[Attempt],
    escalations: Sequence[Escalation],
    forge: ForgeView | None = None,
) -> RunView:
    """Return a run as lists show it; `attempts`, `escalations` and `forge` belong to the run."""
    spec = AgentSpec.model_validate(run.agent)
    numbers = [each.number for each in attempts if each.phase == run.phase]
    waiting = next((each.id for each in escalations if each.status == "open"), None)
    return RunView(
        id=run.id,
        kind=RunKind(run.kind),
        name=run.name,
        goal=run.goal,
        status=RunStatus(run.status),
        status_reason=run.status_reason,
        phase=run.phase,
        attempt=max(numbers, default=None),
        max_attempts=attempts_allowed_now(run, run.phase, escalations),
        attempts_used=len(attempts),
        agent=agent_label(spec),
        scripted=spec.script is not None,
        project=run.source.get("location", ""),
        score=_latest_score(run, attempts),
        usage=run_usage(run),
        escalation_id=waiting,
        paused=pause_view(run),
        forked_from=ForkOrigin.model_validate(run.forked_from) if run.forked_from else None,
        forge=forge,
        last_sequence=run.last_sequence,
        version=run.version,
        created_by=run.created_by,
        created_at=run.created_at,
        updated_at=run.updated_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


def pause_view(run: Run) -> PauseView | None:
    """Return who paused the run, when and why; None if the run is not paused."""
    if run.paused_at is None:
        return None
    return PauseView(at=run.paused_at, by=run.paused_by or "", reason=run.pause_reason)


def phase_views(run: Run, attempts: Sequence[Attempt], escalations: Sequence[Escalation]) -> list[PhaseView]:
    """Return the state of each phase of the run."""
    position = run.phases.index(run.phase) if run.phase else len(run.phases)
    views: list[PhaseView] = []
    for index, phase in enumerate(run.phases):
        here = [each for each in attempts if each.phase == phase]
        views.append(
            PhaseView(
                phase=phase,
                status=_phase_status(run, index - position),
                attempts=len(here),
                max_attempts=attempts_allowed_now(run, phase, escalations),
                score=here[-1].score if here else None,
            )
        )
    return views


def attempt_view(attempt: Attempt, evaluations: Sequence[Evaluation], marks: Marks) -> AttemptView:
    """Return an attempt with the verdicts on its chosen candidate."""
    return AttemptView(
        id=attempt.id,
        phase=attempt.phase,
        number=attempt.number,
        status=AttemptState(attempt.status),
        verdict=attempt.verdict,
        verdict_reason=attempt.verdict_reason,
        score=attempt.score,
        choice_reason=attempt.choice_reason,
        output=attempt.output,
        base_commit=attempt.base_commit,
        head_commit=attempt.head_commit,
        changed_files=attempt.changed_files,
        usage=Usage.model_validate(attempt.usage),
        agent_failures=attempt.agent_failures,
        evaluation_failures=attempt.evaluation_failures,
        lost_workers=attempt.lost_workers,
        last_error=attempt.last_error,
        steered=attempt.steered,
        vendor_login=attempt.vendor_login,
        trace_id=attempt.trace_id,
        started_at=attempt.started_at,
        produced_at=attempt.produced_at,
        completed_at=attempt.completed_at,
        evaluations=[evaluation_view(each, marks.get(each.id, ())) for each in evaluations],
    )


def candidate_view(
    candidate: Candidate, evaluations: Sequence[Evaluation], marks: Marks, *, chosen: bool
) -> CandidateView:
    """Return a candidate with its verdicts."""
    return CandidateView(
        id=candidate.id,
        index=candidate.index,
        agent=candidate.agent,
        provider=candidate.provider,
        model=candidate.model,
        output=candidate.output,
        error=candidate.error,
        metrics=candidate.metrics,
        head_commit=candidate.head_commit,
        changed_files=candidate.changed_files,
        continued=candidate.continued,
        session_note=candidate.session_note,
        chosen=chosen,
        evaluations=[evaluation_view(each, marks.get(each.id, ())) for each in evaluations],
    )


def evaluation_view(row: Evaluation, marks: Sequence[VerdictMark]) -> EvaluationView:
    """Return an evaluator's verdict with the marks on it."""
    return EvaluationView.model_validate(
        {
            "id": row.id,
            "evaluator": row.evaluator,
            "version": row.version,
            "category": row.category,
            "gate": row.gate,
            "observed": row.observed,
            "status": row.status,
            "passed": row.passed,
            "score": row.score,
            "feedback": row.feedback,
            "criteria": row.criteria,
            "suggestions": row.suggestions,
            "metadata": row.details,
            "duration_ms": row.duration_ms,
            "trace_id": row.trace_id,
            "evaluated_at": row.evaluated_at,
            "marks": [mark_view(each, row.status) for each in marks],
        }
    )


def mark_view(row: VerdictMark, status: str) -> MarkView:
    """Return a mark on a verdict that has this status."""
    wrong: Literal["wrong_pass", "wrong_fail"] = "wrong_pass" if status == "passed" else "wrong_fail"
    kind: MarkKind = "right" if row.was_right else wrong
    return MarkView(
        id=row.id,
        evaluation_id=row.evaluation_id,
        was_right=row.was_right,
        kind=kind,
        note=row.note,
        marked_by=row.marked_by,
        marked_at=row.marked_at,
    )


def escalation_view(
    row: Escalation, run: Run, questions: Sequence[Question] = (), changed_files: Sequence[str] | None = None
) -> EscalationView:
    """Return an escalation with its questions about changed tests and the files that its attempt changed."""
    return EscalationView.model_validate(
        {
            "id": row.id,
            "run_id": row.run_id,
            "run_name": run.name,
            "kind": RunKind(run.kind),
            "phase": row.phase,
            "attempt": row.attempt,
            "reason_kind": EscalationReason(row.reason_kind),
            "reason": row.reason,
            "status": row.status,
            "decision": EscalationDecision(row.decision) if row.decision else None,
            "guidance": row.guidance,
            "line_comments": [LineComment.model_validate(each) for each in row.line_comments],
            "additional_attempts": row.additional_attempts,
            "decided_by": row.decided_by,
            "decided_at": row.decided_at,
            "project": run.source.get("location"),
            "assigned_to": row.assigned_to,
            "assigned_at": row.assigned_at,
            "version": row.version,
            "created_at": row.created_at,
            "questions": list(questions) if project_of(run) else [each.about_tests(()) for each in questions],
            "changed_files": None if changed_files is None else list(changed_files),
        }
    )


def _latest_score(run: Run, attempts: Sequence[Attempt]) -> float | None:
    position = {phase: index for index, phase in enumerate(run.phases)}
    judged = [each for each in attempts if each.score is not None]
    latest = max(judged, key=lambda each: (position.get(each.phase, -1), each.number), default=None)
    return latest.score if latest else None


def attempts_allowed_now(run: Run, phase: str | None, escalations: Sequence[Escalation]) -> int:
    """Return how many attempts a phase may use: those of the policy and those that reviewers granted."""
    here = tuple(escalation_facts(each) for each in escalations if each.phase == phase)
    return attempts_allowed(here, RunPolicy.model_validate(run.policy))


def _phase_status(run: Run, distance: int) -> str:
    if distance < 0:
        return "completed"
    if distance > 0:
        return "pending"
    return "pending" if run.status == RunStatus.QUEUED else run.status
