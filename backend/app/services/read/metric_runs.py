"""Selects, in SQL, the runs that each figure of the metrics counts, from the same cases as the figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sqlalchemy import ColumnElement, Select, exists, or_, select, true

from app.core.errors import InvalidInputError
from app.db.models import Attempt, Candidate, Escalation, Evaluation, Run
from app.schemas.api.run_lists import MetricName, MetricPart
from app.schemas.forges import EndedAs
from app.schemas.runs import EscalationDecision, EscalationReason
from app.services.record.cases import (
    OVER,
    ScopedRuns,
    has_own_usage,
    newest_marks,
    phase_cases,
    run_cases,
    scoped_runs,
)
from app.services.record.pull_outcomes import delivered_verdicts, outcome_cases

_PASS_AT = {MetricName.PASS_AT_1: 1, MetricName.PASS_AT_2: 2, MetricName.PASS_AT_3: 3}
_VERDICTS = {
    MetricName.VERDICT_PASSED: "passed",
    MetricName.VERDICT_FAILED: "failed",
    MetricName.VERDICT_ERRORED: "errored",
    MetricName.VERDICT_SKIPPED: "skipped",
}
_MARKED = {MetricName.WRONG_PASSES: "passed", MetricName.WRONG_FAILS: "failed"}


@dataclass(frozen=True, slots=True)
class MetricOf:
    """A figure, its phase (None for whole runs), and the reason, decision or evaluator that it counts."""

    name: MetricName
    phase: str | None = None
    key: str | None = None


def runs_behind(number: MetricOf, part: MetricPart, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Select the ids of the runs behind a figure.

    Args:
        number: the figure.
        part: `counted` for the runs with cases that count, otherwise all runs with cases.
        conditions: which runs are measured.

    Raises:
        InvalidInputError: the figure has no such key, or needs one.
    """
    counted = part == "counted"
    match number.name:
        case MetricName.PASS_AT_1 | MetricName.PASS_AT_2 | MetricName.PASS_AT_3:
            return _passing(number, counted, scoped_runs(conditions))
        case MetricName.RETRIED:
            return _retried(number, counted, scoped_runs(conditions))
        case MetricName.ESCALATED:
            return _escalated(number, counted, scoped_runs(conditions))
        case MetricName.DECIDED:
            return _decided(number, counted)
        case MetricName.COST_KNOWN:
            known = Run.used_cost_usd.is_not(None) if counted else true()
            return select(Run.id).where(Run.status.in_(OVER), has_own_usage(), known)
        case MetricName.OUTCOME:
            return _ended(number, counted, scoped_runs(conditions))
        case MetricName.WRONG_PASSES_BY_OUTCOME | MetricName.WRONG_FAILS_BY_OUTCOME:
            return _contradicted(number, counted, scoped_runs(conditions))
        case _:
            return _judged(number, counted)


def _passing(number: MetricOf, counted: bool, scoped: ScopedRuns) -> Select[Any]:
    k, phases = _PASS_AT[number.name], phase_cases(scoped)
    if number.phase is not None:
        hit = phases.passed(k) if counted else phases.settled(k)
        return select(phases.rows.c.run_id).where(phases.rows.c.phase == number.phase, hit)
    runs = run_cases(scoped.rows, phases)
    return select(runs.c.run_id).where(runs.c[f"passed_{k}" if counted else f"settled_{k}"])


def _retried(number: MetricOf, counted: bool, scoped: ScopedRuns) -> Select[Any]:
    c = phase_cases(scoped).rows.c
    here = c.phase == number.phase if number.phase is not None else true()
    return select(c.run_id).where(here, c.judged > (1 if counted else 0))


def _escalated(number: MetricOf, counted: bool, scoped: ScopedRuns) -> Select[Any]:
    if number.key is not None:
        _check_key(number.key, EscalationReason)
    phases = phase_cases(scoped)
    c = phases.rows.c
    if counted:
        conditions = [Escalation.run_id == scoped.rows.c.id]
        conditions += [Escalation.phase == number.phase] if number.phase is not None else []
        conditions += [Escalation.reason_kind == number.key] if number.key is not None else []
        return select(scoped.rows.c.id).where(exists().where(*conditions))
    if number.phase is not None:
        return select(c.run_id).where(c.phase == number.phase, phases.ended)
    runs = run_cases(scoped.rows, phases)
    return select(runs.c.run_id).where(or_(runs.c.escalated, runs.c.over))


def _decided(number: MetricOf, counted: bool) -> Select[Any]:
    found = select(Escalation.run_id).where(Escalation.status == "resolved")
    if number.key is None:
        return found
    _check_key(number.key, EscalationDecision)
    return found.where(Escalation.decision == number.key) if counted else found


def _ended(number: MetricOf, counted: bool, scoped: ScopedRuns) -> Select[Any]:
    known = get_args(EndedAs)
    if number.key is not None and number.key not in known:
        raise InvalidInputError(f"there are {', '.join(known)}", field="metric_key")
    c = outcome_cases(scoped).c
    found = select(c.run_id).where(c.is_settled)
    return found.where(c.ended_as == number.key) if counted and number.key is not None else found


def _contradicted(number: MetricOf, counted: bool, scoped: ScopedRuns) -> Select[Any]:
    cases = outcome_cases(scoped)
    passed = number.name is MetricName.WRONG_PASSES_BY_OUTCOME
    found = (
        delivered_verdicts()
        .with_only_columns(Attempt.run_id)
        .join(cases, cases.c.run_id == Attempt.run_id)
        .where(
            cases.c.is_settled,
            Evaluation.evaluator == _evaluator_of(number),
            Evaluation.status == ("passed" if passed else "failed"),
        )
    )
    return found.where(cases.c.is_bad.is_(passed)) if counted else found


def _evaluator_of(number: MetricOf) -> str:
    if number.key is None:
        raise InvalidInputError("the evaluator is missing", field="metric_key")
    return number.key


def _judged(number: MetricOf, counted: bool) -> Select[Any]:
    found = (
        select(Attempt.run_id)
        .join(Candidate, Candidate.attempt_id == Attempt.id)
        .join(Evaluation, Evaluation.candidate_id == Candidate.id)
        .where(Evaluation.evaluator == _evaluator_of(number))
    )
    if number.name in _VERDICTS:
        return found.where(Evaluation.status == _VERDICTS[number.name]) if counted else found
    newest = newest_marks()
    found = found.join(newest, newest.c.evaluation_id == Evaluation.id)
    found = found.where(Evaluation.status == _MARKED[number.name])
    return found.where(newest.c.was_right.is_(False)) if counted else found


def _check_key(key: str, known: type[EscalationReason] | type[EscalationDecision]) -> None:
    names = [each.value for each in known]
    if key not in names:
        raise InvalidInputError(f"there are {', '.join(names)}", field="metric_key")
