"""Counts what observed gates would have blocked, and what reviewers said about it."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, and_, case, exists, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.intervals import share
from app.db.engine import Sessions, begin_measuring
from app.db.models import Attempt, Candidate, Escalation, Evaluation, Run
from app.schemas.api.metrics import MetricQuery
from app.schemas.api.observed import HumanWord, ObservedGate, ObserveReport, WouldBlock
from app.schemas.runs import EscalationDecision
from app.services.read.run_lists import conditions
from app.services.record.cases import ScopedRuns, newest_marks, scoped_runs

_LISTED = 100
_FEEDBACK_CHARS = 300


class ObserveService:
    """Reports on observed gates.

    Args:
        sessions: opens short sessions.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def report(self, query: MetricQuery) -> ObserveReport:
        """Count the verdicts of observed gates in the runs in a scope."""
        async with self._sessions() as session:
            await begin_measuring(session)
            scoped = scoped_runs(conditions(query))
            return ObserveReport(
                at=datetime.now(UTC),
                gates=await load_observed_gates(session, scoped),
                would_block=await _newest(session, scoped),
            )


async def load_observed_gates(session: AsyncSession, scoped: ScopedRuns) -> list[ObservedGate]:
    """Return the figures of every observed gate, by name."""
    said = _said(scoped).subquery("said")
    c = said.c
    statement = (
        select(
            c.evaluator,
            func.count().label("verdicts"),
            func.count().filter(c.status == "failed").label("failed"),
            func.count().filter(c.status == "errored").label("errored"),
            func.count().filter(c.blocks).label("blocks"),
            func.count(c.run_id.distinct()).filter(c.blocks).label("runs"),
            func.count().filter(c.blocks, c.word == HumanWord.OVERRULED.value).label("overruled"),
            func.count().filter(c.blocks, c.word == HumanWord.CONFIRMED.value).label("confirmed"),
            func.min(c.evaluated_at).label("first_at"),
            func.max(c.evaluated_at).label("last_at"),
        )
        .group_by(c.evaluator)
        .order_by(c.evaluator)
    )
    return [
        ObservedGate(
            evaluator=row["evaluator"],
            verdicts=row["verdicts"],
            failed=share(row["failed"], row["verdicts"]),
            errored=share(row["errored"], row["verdicts"]),
            would_block=share(row["blocks"], row["verdicts"]),
            runs=row["runs"],
            overruled=share(row["overruled"], row["blocks"]),
            confirmed=share(row["confirmed"], row["blocks"]),
            first_at=row["first_at"],
            last_at=row["last_at"],
        )
        for row in (await session.execute(statement)).mappings()
    ]


async def _newest(session: AsyncSession, scoped: ScopedRuns) -> list[WouldBlock]:
    said = _said(scoped).subquery("said")
    statement = (
        select(said, Run.name.label("run_name"))
        .join(Run, Run.id == said.c.run_id)
        .where(said.c.blocks)
        .order_by(said.c.evaluated_at.desc(), said.c.id)
        .limit(_LISTED)
    )
    rows = (await session.execute(statement)).mappings()
    return [WouldBlock.model_validate({name: row[name] for name in WouldBlock.model_fields}) for row in rows]


def _said(scoped: ScopedRuns) -> Select[*tuple[Any, ...]]:
    """Select one row for each verdict of an observed gate on an attempt's chosen candidate.

    `blocks` holds if nothing else stopped the work: the attempt passed, or a person accepted it. The newest
    mark on a verdict takes precedence over the acceptance.
    """
    newest = newest_marks()
    accepted = exists().where(
        Escalation.run_id == Attempt.run_id,
        Escalation.phase == Attempt.phase,
        Escalation.attempt == Attempt.number,
        Escalation.decision == EscalationDecision.ACCEPT,
    )
    word = case(
        (newest.c.was_right, literal(HumanWord.CONFIRMED.value)),
        (or_(newest.c.was_right.is_(False), accepted), literal(HumanWord.OVERRULED.value)),
        else_=literal(HumanWord.NONE.value),
    )
    statement = (
        select(
            Evaluation.id,
            Evaluation.evaluator,
            Evaluation.status,
            func.left(Evaluation.feedback, _FEEDBACK_CHARS).label("feedback"),
            Evaluation.evaluated_at,
            Attempt.run_id,
            Attempt.phase,
            Attempt.number.label("attempt"),
            and_(
                Evaluation.status.in_(("failed", "errored")), or_(Attempt.status == "passed", accepted)
            ).label("blocks"),
            word.label("word"),
        )
        .join(Candidate, Candidate.id == Evaluation.candidate_id)
        .join(Attempt, Attempt.id == Candidate.attempt_id)
        .outerjoin(newest, newest.c.evaluation_id == Evaluation.id)
        .where(Evaluation.observed, Candidate.index == func.coalesce(Attempt.chosen_candidate, 0))
    )
    return scoped.holding(statement, Attempt.run_id.expression)
