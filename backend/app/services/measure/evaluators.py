"""Counts each evaluator's verdicts in the measured runs, their durations, and how often they were wrong."""

from collections.abc import Mapping
from typing import Any, TypeVarTuple

from sqlalchemy import CTE, Select, Subquery, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.models import Attempt, Candidate, Evaluation
from app.schemas.api.metrics import EvaluatorMetrics
from app.schemas.api.run_lists import MetricName
from app.schemas.shares import Latency
from app.services.measure.links import Counts, MetricLinks
from app.services.measure.outcomes import load_wrong_by_outcome
from app.services.record.cases import ScopedRuns, newest_marks

_Columns = TypeVarTuple("_Columns")

_STATUSES = ("passed", "failed", "errored", "skipped")
_Row = Mapping[Any, Any]


async def load_evaluator_metrics(
    session: AsyncSession, scoped: ScopedRuns, links: MetricLinks
) -> list[EvaluatorMetrics]:
    """Return the figures of every evaluator with at least one verdict: gates first, then by name."""
    said = [dict(row) for row in (await session.execute(_said(scoped))).mappings()]
    marked = {
        (evaluator, status): (wrong, of)
        for evaluator, status, wrong, of in await session.execute(_marked(scoped))
    }
    by_outcome = await load_wrong_by_outcome(session, scoped)
    made = [_metrics(row, marked, by_outcome, links) for row in said]
    return sorted(made, key=lambda each: (not each.gate, each.evaluator))


def _said(scoped: ScopedRuns) -> Select[*tuple[Any, ...]]:
    # Grouped by duration first: a percentile over some thousand groups needs no sort of millions of rows.
    verdicts = select(
        Evaluation.evaluator,
        Evaluation.status,
        Evaluation.duration_ms.label("took"),
        func.bool_or(Evaluation.gate).label("gate"),
        func.count().label("cases"),
    ).group_by(Evaluation.evaluator, Evaluation.status, Evaluation.duration_ms)
    counted = _of(scoped, verdicts).cte("counted")
    totals, latencies = _totals(counted), _latencies(counted)
    return select(totals, latencies.c.timed, latencies.c.p50, latencies.c.p95).select_from(
        totals.outerjoin(latencies, latencies.c.evaluator == totals.c.evaluator)
    )


def _latencies(counted: CTE) -> Subquery:
    """Return the number of durations of each evaluator, and their percentiles."""
    c = counted.c
    ranked = (
        select(
            c.evaluator,
            c.took,
            func.sum(c.cases).over(partition_by=c.evaluator, order_by=c.took).label("until"),
            func.sum(c.cases).over(partition_by=c.evaluator).label("timed"),
        )
        .where(c.took.is_not(None), c.status != "skipped")
        .subquery("ranked")
    )
    r = ranked.c
    return (
        select(
            r.evaluator,
            func.max(r.timed).label("timed"),
            func.min(r.took).filter(r.until >= 0.5 * r.timed).label("p50"),
            func.min(r.took).filter(r.until >= 0.95 * r.timed).label("p95"),
        )
        .group_by(r.evaluator)
        .subquery("latencies")
    )


def _totals(counted: CTE) -> Subquery:
    """Return the number of verdicts of each evaluator, in all and by status."""
    c = counted.c
    return (
        select(
            c.evaluator,
            func.bool_or(c.gate).label("gate"),
            func.sum(c.cases).label("verdicts"),
            *(
                func.coalesce(func.sum(c.cases).filter(c.status == status), 0).label(status)
                for status in _STATUSES
            ),
        )
        .group_by(c.evaluator)
        .subquery("totals")
    )


def _marked(scoped: ScopedRuns) -> Select[str, str, int, int]:
    # Starts at the marks, which are few, and joins to their runs.
    newest = newest_marks()
    marked = (
        select(
            Evaluation.evaluator,
            Evaluation.status,
            func.count().filter(newest.c.was_right.is_(False)),
            func.count(),
        )
        .join(newest, newest.c.evaluation_id == Evaluation.id)
        .group_by(Evaluation.evaluator, Evaluation.status)
    )
    return _of(scoped, marked)


def _of(scoped: ScopedRuns, verdicts: Select[*_Columns]) -> Select[*_Columns]:
    """Narrow verdicts to the measured runs. If all runs are measured, an index alone answers the query."""
    if scoped.every:
        return verdicts
    joined = verdicts.join(Candidate, Candidate.id == Evaluation.candidate_id)
    return scoped.holding(joined.join(Attempt, Attempt.id == Candidate.attempt_id), Attempt.run_id.expression)


_ByVerdict = Mapping[tuple[str, str], Counts]


def _metrics(row: _Row, marked: _ByVerdict, by_outcome: _ByVerdict, links: MetricLinks) -> EvaluatorMetrics:
    name, verdicts = row["evaluator"], int(row["verdicts"])
    passed, failed, errored, skipped = ((int(row[status]), verdicts) for status in _STATUSES)
    return EvaluatorMetrics(
        evaluator=name,
        gate=row["gate"],
        verdicts=verdicts,
        passed=links.share(passed, MetricName.VERDICT_PASSED, key=name),
        failed=links.share(failed, MetricName.VERDICT_FAILED, key=name),
        errored=links.share(errored, MetricName.VERDICT_ERRORED, key=name),
        skipped=links.share(skipped, MetricName.VERDICT_SKIPPED, key=name),
        latency=Latency(n=int(row["timed"] or 0), p50_ms=row["p50"], p95_ms=row["p95"]),
        wrong_passes=links.share(marked.get((name, "passed"), (0, 0)), MetricName.WRONG_PASSES, key=name),
        wrong_fails=links.share(marked.get((name, "failed"), (0, 0)), MetricName.WRONG_FAILS, key=name),
        wrong_passes_by_outcome=links.share(
            by_outcome.get((name, "passed"), (0, 0)), MetricName.WRONG_PASSES_BY_OUTCOME, key=name
        ),
        wrong_fails_by_outcome=links.share(
            by_outcome.get((name, "failed"), (0, 0)), MetricName.WRONG_FAILS_BY_OUTCOME, key=name
        ),
    )
