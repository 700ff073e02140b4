"""Selects, in SQL, the cases that metrics count. Reports and lists of runs use the same cases.

docs/metrics.md defines them in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVarTuple

from sqlalchemy import CTE, ColumnElement, Select, and_, case, exists, false, func, literal, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.db.models import Attempt, Escalation, Run, VerdictMark
from app.schemas.runs import EscalationReason, RunStatus

_Columns = TypeVarTuple("_Columns")

K = (1, 2, 3)
OVER = (RunStatus.COMPLETED, RunStatus.FAILED)
"""Statuses of runs that ended by themselves; a cancelled run proves nothing."""
ABOUT_THE_WORK = (
    EscalationReason.ATTEMPTS_EXHAUSTED,
    EscalationReason.NO_PROGRESS,
    EscalationReason.BUDGET_EXHAUSTED,
)
"""Reasons for which the machine gave up. After any other reason the same attempt simply continues."""


@dataclass(frozen=True, slots=True)
class ScopedRuns:
    """The runs that are measured.

    Attributes:
        rows: id, created_at, over, planned (the run's number of phases), runs (number
            of runs in the row: one).
        every: whether all runs are measured, so that their data need not be joined with them.
    """

    rows: CTE
    every: bool

    def holding(self, statement: Select[*_Columns], run_id: ColumnElement[Any]) -> Select[*_Columns]:
        """Narrow a statement to the data of these runs."""
        return statement if self.every else statement.join(self.rows, self.rows.c.id == run_id)


def scoped_runs(conditions: Sequence[ColumnElement[bool]]) -> ScopedRuns:
    """Return the runs that meet all conditions."""
    rows = (
        select(
            Run.id,
            Run.created_at,
            Run.status.in_(OVER).label("over"),
            func.cardinality(Run.phases).label("planned"),
            literal(1).label("runs"),
        )
        .where(*conditions)
        .cte("scoped")
    )
    return ScopedRuns(rows, every=not conditions)


@dataclass(frozen=True, slots=True)
class PhaseCases:
    """One row for each run and phase that was judged or escalated.

    Columns of `rows`: run_id, phase, over, judged (number of judged attempts), passed_at (the first attempt
    that passed before a person helped), gave_up (whether the machine gave up), escalated (for any reason).
    From the first attempt that a person steered, neither attempts nor giving up count.
    """

    rows: CTE

    def passed(self, k: int) -> ColumnElement[bool]:
        """Return the condition that the phase passed within `k` attempts without help."""
        return func.coalesce(self.rows.c.passed_at <= k, false())

    def settled(self, k: int) -> ColumnElement[bool]:
        """Return the condition that it is known whether the phase passes within `k` attempts."""
        c = self.rows.c
        return or_(c.passed_at.is_not(None), c.gave_up, c.judged >= k)

    @property
    def failed_until(self) -> ColumnElement[int]:
        """Return the largest `k` for which the phase is known not to pass: `settled` and not `passed`."""
        c = self.rows.c
        return case((c.passed_at.is_not(None), c.passed_at - 1), (c.gave_up, max(K)), else_=c.judged)

    @property
    def ended(self) -> ColumnElement[bool]:
        """Return the condition that it is known whether the phase escalates."""
        c = self.rows.c
        return or_(c.escalated, c.passed_at.is_not(None), c.over)


def phase_cases(scoped: ScopedRuns) -> PhaseCases:
    """Return the cases of all phases of the measured runs, up to where a person steered the agent."""
    judged = Attempt.status.in_(("passed", "failed"))
    tried = select(
        Attempt.run_id,
        Attempt.phase,
        func.count().filter(judged).label("judged"),
        func.min(Attempt.number).filter(Attempt.status == "passed").label("passed_at"),
    )
    tried = tried.where(without_steering())
    tried = tried.group_by(Attempt.run_id, Attempt.phase)
    attempts = scoped.holding(tried, Attempt.run_id.expression).subquery("tried")
    gave_up = and_(
        Escalation.reason_kind.in_(ABOUT_THE_WORK),
        ~_steered_by(Escalation, Escalation.attempt),
    )
    questions = select(
        Escalation.run_id,
        Escalation.phase,
        func.min(Escalation.attempt).filter(gave_up).label("helped_at"),
    ).group_by(Escalation.run_id, Escalation.phase)
    asked = scoped.holding(questions, Escalation.run_id.expression).subquery("asked")
    same = and_(attempts.c.run_id == asked.c.run_id, attempts.c.phase == asked.c.phase)
    run_id = func.coalesce(attempts.c.run_id, asked.c.run_id)
    judged_count = func.coalesce(attempts.c.judged, 0)
    alone = or_(asked.c.helped_at.is_(None), attempts.c.passed_at <= asked.c.helped_at)
    rows = (
        select(
            run_id.label("run_id"),
            func.coalesce(attempts.c.phase, asked.c.phase).label("phase"),
            scoped.rows.c.over,
            judged_count.label("judged"),
            case((alone, attempts.c.passed_at)).label("passed_at"),
            asked.c.helped_at.is_not(None).label("gave_up"),
            asked.c.run_id.is_not(None).label("escalated"),
        )
        .select_from(attempts.join(asked, same, full=True).join(scoped.rows, scoped.rows.c.id == run_id))
        .where(or_(judged_count > 0, asked.c.run_id.is_not(None)))
        .cte("phase_cases")
    )
    return PhaseCases(rows)


def without_steering() -> ColumnElement[bool]:
    """Return the condition that no person steered an attempt or an earlier one of its phase."""
    return ~_steered_by(Attempt, Attempt.number)


def _steered_by(
    of: type[Attempt] | type[Escalation], number: InstrumentedAttribute[int]
) -> ColumnElement[bool]:
    """Return the condition that a person steered this attempt of a phase or an earlier one."""
    told = aliased(Attempt)
    earlier = and_(told.run_id == of.run_id, told.phase == of.phase, told.number <= number)
    return exists().where(told.steered, earlier)


def run_cases(runs: CTE, phases: PhaseCases) -> CTE:
    """Return one row for each of `runs`: run_id, created_at, over, runs, and the outcome of its phases.

    Args:
        runs: rows like those of `ScopedRuns`.
        phases: the cases of their phases.
    """
    c, run = phases.rows.c, runs.c
    # There are many runs, so few aggregates: what is known for each k follows from what is known for all.
    summed = (
        select(
            run.id.label("run_id"),
            func.max(run.created_at).label("created_at"),
            func.bool_or(run.over).label("over"),
            func.max(run.runs).label("runs"),
            (func.count(c.passed_at) == func.max(run.planned)).label("all_passed"),
            func.max(c.passed_at).label("passed_at"),
            func.coalesce(func.max(phases.failed_until), 0).label("failed_until"),
            func.coalesce(func.max(c.judged), 0).label("most"),
            func.coalesce(func.sum(func.greatest(c.judged - 1, 0)), 0).label("retries"),
            func.count().filter(c.judged > 0).label("judged_phases"),
            func.coalesce(func.bool_or(c.escalated), false()).label("escalated"),
        )
        .select_from(runs.outerjoin(phases.rows, c.run_id == run.id))
        .group_by(run.id)
        .subquery("summed")
        .c
    )
    columns: list[ColumnElement[Any]] = []
    for k in K:
        passed = func.coalesce(and_(summed.all_passed, summed.passed_at <= k), false())
        columns += [
            passed.label(f"passed_{k}"),
            or_(passed, summed.failed_until >= k).label(f"settled_{k}"),
        ]
    return select(
        summed.run_id,
        summed.created_at,
        summed.over,
        summed.runs,
        *columns,
        (summed.most > 0).label("judged"),
        (summed.most > 1).label("retried"),
        summed.retries,
        summed.judged_phases,
        summed.escalated,
    ).cte("run_cases")


def newest_marks() -> CTE:
    """Return the mark that counts on each verdict: evaluation_id, was_right."""
    return (
        select(VerdictMark.evaluation_id, VerdictMark.was_right)
        .ext(distinct_on(VerdictMark.evaluation_id))
        .order_by(VerdictMark.evaluation_id, VerdictMark.marked_at.desc(), VerdictMark.id)
        .cte("newest_marks")
    )


def has_own_usage() -> ColumnElement[bool]:
    """Return the condition that a run asked a model and is no subtask; loops include subtasks' usage."""
    return and_(Run.used_requests > 0, Run.parent_run_id.is_(None))
