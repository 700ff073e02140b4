"""Reads the records of a run into the values that decisions and prompts use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from app.db.models import Attempt, Candidate, Escalation, Evaluation, Run
from app.runners.budgets import DayBudgets
from app.runners.decision import attempts_allowed
from app.runners.evaluators.acceptance import Acceptance
from app.runners.evaluators.feedback_memory import FeedbackMemory
from app.runners.evaluators.protocol import EvaluationResult, EvaluationStatus
from app.runners.evaluators.verdict import VerdictStatus
from app.runners.facts import AttemptFacts, EscalationFacts, History
from app.schemas.api.escalations import LineComment
from app.schemas.runs import (
    AttemptClosing,
    AttemptState,
    EscalationDecision,
    EscalationReason,
    Phase,
    RunKind,
    RunPolicy,
    RunStatus,
)
from app.services.record.budgets import over_above as over_above_of
from app.services.record.budgets import over_day as over_day_of
from app.services.record.evaluations import evaluation_result
from app.services.record.held_out import held_out_kind
from app.services.record.iterations import subtask_state
from app.services.record.ledger import spent

_CHANGING_PHASES = (Phase.DISCOVERY, Phase.CODING)
"""The phases whose attempts should change files; runs other than sprints have different phases."""

_HEAVY = (Attempt.prompt, Attempt.optimization_context, Attempt.output, Attempt.details)


@dataclass(frozen=True)
class Recorded:
    """A run as recorded: its row, the rows of its current phase, and the history made from them.

    Attributes:
        accepted: whether a person accepted an attempt of any phase; only then are there acceptances to read.
    """

    run: Run
    policy: RunPolicy
    attempts: Sequence[Attempt]
    escalations: Sequence[Escalation]
    history: History
    accepted: bool


async def load_run(session: AsyncSession, run_id: UUID, days: DayBudgets | None = None) -> Recorded:
    """Read a run and its current phase; `days` are the operator's daily budgets."""
    run = await session.get_one(Run, run_id)
    # A loop has up to a hundred attempts, so each step reads only the columns that it needs.
    heavy = () if run.kind == RunKind.SPRINT else _HEAVY
    attempts = (
        await session.scalars(
            select(Attempt)
            .where(Attempt.run_id == run_id, Attempt.phase == run.phase)
            .order_by(Attempt.number)
            .options(*(defer(each, raiseload=True) for each in heavy))
        )
    ).all()
    escalations = (
        await session.scalars(
            select(Escalation).where(Escalation.run_id == run_id).order_by(Escalation.created_at)
        )
    ).all()
    here = [each for each in escalations if each.phase == run.phase]
    facts = [_attempt_facts(each) for each in attempts]
    if facts and facts[-1].state is AttemptState.DELEGATED:
        facts[-1] = replace(facts[-1], subtask=await subtask_state(session, attempts[-1].id))
    over_above = await over_above_of(session, run.parent_run_id)
    over_day = await over_day_of(session, run.source.get("location", ""), days or DayBudgets())
    history = History(
        status=RunStatus(run.status),
        phases=tuple(run.phases),
        phase=run.phase,
        attempts=tuple(facts),
        escalations=tuple(escalation_facts(each) for each in here),
        spent=spent(run, escalations, over_above, over_day),
        now=datetime.now(UTC),
        paused=run.paused_at is not None,
    )
    accepted = any(each.decision == EscalationDecision.ACCEPT for each in escalations)
    return Recorded(run, RunPolicy.model_validate(run.policy), attempts, here, history, accepted)


async def load_memory(session: AsyncSession, recorded: Recorded) -> FeedbackMemory:
    """Read the feedback memory of the current phase: its judged attempts, and what reviewers said."""
    run = recorded.run
    memory = FeedbackMemory(
        sprint_id=run.id,
        phase=run.phase or "",
        original_goal=run.goal,
        max_attempts=attempts_allowed(recorded.history.escalations, recorded.policy),
    )
    judged = _judged(recorded)
    results = await _results_by_attempt(session, judged)
    for attempt in judged:
        record = memory.add_attempt(
            attempt.output,
            results.get(attempt.id, []),
            attempt.prompt,
            trace_id=attempt.trace_id,
            started_at=attempt.started_at,
            completed_at=attempt.completed_at,
            verdict_score=attempt.score,
        )
        record.changed_nothing = _changed_nothing(attempt)
    memory.held_out = await held_out_kind(session, run.id)
    memory.guidance = said_by_humans(recorded)
    if recorded.policy.open_paths:
        memory.guidance.append(
            f"You may change these tests or settings: {', '.join(recorded.policy.open_paths)}"
        )
    return memory


async def load_latest_feedback(session: AsyncSession, recorded: Recorded) -> list[str]:
    """Read the feedback for which the latest judged attempt of the current phase did not pass."""
    latest = _judged(recorded)[-1:]
    results = await _results_by_attempt(session, latest)
    return [each.feedback for said in results.values() for each in said if not each.passed]


async def load_acceptances(session: AsyncSession, recorded: Recorded) -> list[Acceptance]:
    """Read the findings of gates that people accepted in a run, in the order of their decisions."""
    if not recorded.accepted:
        return []
    statement = (
        select(Escalation, Evaluation)
        .join(
            Attempt,
            and_(
                Attempt.run_id == Escalation.run_id,
                Attempt.phase == Escalation.phase,
                Attempt.number == Escalation.attempt,
            ),
        )
        .join(Candidate, Candidate.attempt_id == Attempt.id)
        .join(Evaluation, Evaluation.candidate_id == Candidate.id)
        .where(
            Escalation.run_id == recorded.run.id,
            Escalation.decision == EscalationDecision.ACCEPT,
            Candidate.index == func.coalesce(Attempt.chosen_candidate, 0),
            Evaluation.gate,
            Evaluation.status == EvaluationStatus.FAILED,
        )
        .order_by(Escalation.decided_at, Evaluation.position)
    )
    return [
        Acceptance.of(
            evaluation_result(row),
            by=escalation.decided_by or "",
            phase=escalation.phase,
            attempt=escalation.attempt,
        )
        for escalation, row in await session.execute(statement)
    ]


def said_by_humans(recorded: Recorded) -> list[str]:
    """Return people's guidance for a run and its phase: from the start, then from each decision."""
    return [*recorded.run.guidance, *(line for each in recorded.escalations for line in guidance_lines(each))]


def told(task: str, said: Sequence[str]) -> str:
    """Return a task with people's guidance, in the form that an attempt stores."""
    return "\n".join([task, "", "A human said:", *said]) if said else task


def guidance_lines(escalation: Escalation) -> list[str]:
    """Return a reviewer's guidance as lines for the prompt: the text, then the line comments with places."""
    lines = [escalation.guidance] if escalation.guidance else []
    comments = [LineComment.model_validate(each) for each in escalation.line_comments]
    return lines + [f"{each.place}: {each.body}" for each in comments]


def _judged(recorded: Recorded) -> list[Attempt]:
    return [each for each in recorded.attempts if each.status in (AttemptState.PASSED, AttemptState.FAILED)]


async def _results_by_attempt(
    session: AsyncSession, attempts: Sequence[Attempt]
) -> dict[UUID, list[EvaluationResult]]:
    if not attempts:
        return {}
    statement = (
        select(Candidate.attempt_id, Evaluation)
        .join(Candidate, Candidate.id == Evaluation.candidate_id)
        .join(Attempt, Attempt.id == Candidate.attempt_id)
        .where(
            Attempt.id.in_([each.id for each in attempts]),
            Candidate.index == func.coalesce(Attempt.chosen_candidate, 0),
        )
        .order_by(Evaluation.position)
    )
    found: dict[UUID, list[EvaluationResult]] = {}
    for attempt_id, row in await session.execute(statement):
        found.setdefault(attempt_id, []).append(evaluation_result(row))
    return found


def _changed_nothing(row: Attempt) -> bool:
    return row.phase in _CHANGING_PHASES and not row.changed_files


def _attempt_facts(row: Attempt) -> AttemptFacts:
    return AttemptFacts(
        number=row.number,
        state=AttemptState(row.status),
        agent_failures=row.agent_failures,
        unavailable_failures=row.unavailable_failures,
        unavailable_since=row.unavailable_since,
        needs_human=row.needs_human,
        evaluation_failures=row.evaluation_failures,
        lost_workers=row.lost_workers,
        not_before=row.not_before,
        fingerprint=row.fingerprint,
        tree=row.tree,
        error=row.last_error,
        closing=AttemptClosing(row.closing) if row.closing else None,
        question=row.verdict_reason if row.verdict == VerdictStatus.ASKS else "",
        changed_nothing=_changed_nothing(row),
    )


def escalation_facts(row: Escalation) -> EscalationFacts:
    """Return the facts about an escalation that decisions need."""
    return EscalationFacts(
        attempt=row.attempt,
        reason=EscalationReason(row.reason_kind),
        decision=EscalationDecision(row.decision) if row.decision else None,
        decided_by=row.decided_by or "",
        additional_attempts=row.additional_attempts,
        guidance=row.guidance,
    )
