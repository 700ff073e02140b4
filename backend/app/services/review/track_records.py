"""Measures how reliable evaluators are: their newest verdicts, their latency, and reviewers' marks."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, func, select, union_all
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.intervals import share
from app.db.models import Evaluation, VerdictMark
from app.schemas.api.evaluators import RECORD_SIZE, EvaluatorVersion, MarkedShares, TrackRecord
from app.schemas.shares import Latency

STATUSES = ("passed", "failed", "errored", "skipped")


async def load_track_records(session: AsyncSession, names: Sequence[str]) -> list[TrackRecord]:
    """Return the record of each evaluator, in the order of `names`; one without verdicts has nulls."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return []
    recent = _recent(wanted)
    rows = (await session.execute(_summary(recent))).mappings()
    found: dict[str, Mapping[Any, Any]] = {row["evaluator"]: row for row in rows}
    marked = await load_marked(session, select(Evaluation.id).where(Evaluation.evaluator.in_(wanted)))
    return [_record(name, found.get(name, {}), marked.get(name, NO_MARKS)) for name in wanted]


async def load_versions(session: AsyncSession, name: str) -> list[EvaluatorVersion]:
    """Return the versions among an evaluator's newest verdicts, newest first."""
    recent = _recent([name])
    last = func.max(recent.c.evaluated_at)
    statement = (
        select(recent.c.version, func.count(), func.min(recent.c.evaluated_at), last)
        .group_by(recent.c.version)
        .order_by(last.desc())
    )
    rows = await session.execute(statement)
    return [
        EvaluatorVersion(version=version, verdicts=count, first_at=first, last_at=last_at)
        for version, count, first, last_at in rows
    ]


NO_MARKS = MarkedShares(wrong_passes=share(0, 0), wrong_fails=share(0, 0))


async def load_marked(session: AsyncSession, evaluations: Select[Any]) -> dict[str, MarkedShares]:
    """Count the marks on the selected verdicts, for each evaluator with at least one mark.

    Args:
        session: an open session.
        evaluations: selects the ids of the verdicts that count.
    """
    newest = (
        select(VerdictMark.evaluation_id, VerdictMark.was_right)
        .where(VerdictMark.evaluation_id.in_(evaluations))
        .ext(distinct_on(VerdictMark.evaluation_id))
        .order_by(VerdictMark.evaluation_id, VerdictMark.marked_at.desc(), VerdictMark.id)
        .subquery()
    )
    wrong = func.count().filter(newest.c.was_right.is_(False))
    statement = (
        select(Evaluation.evaluator, Evaluation.status, wrong, func.count())
        .join(newest, newest.c.evaluation_id == Evaluation.id)
        .group_by(Evaluation.evaluator, Evaluation.status)
    )
    counted = {(name, status): (bad, of) for name, status, bad, of in await session.execute(statement)}
    return {
        name: MarkedShares(
            wrong_passes=share(*counted.get((name, "passed"), (0, 0))),
            wrong_fails=share(*counted.get((name, "failed"), (0, 0))),
        )
        for name in dict.fromkeys(name for name, _ in counted)
    }


def percentile(part: float, value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the smallest value that a share `part` of all values does not exceed."""
    return func.percentile_disc(part).within_group(value.asc())


def _recent(names: Sequence[str]) -> Subquery:
    # One limited index scan for each evaluator; a window over all of them would read every verdict.
    columns = (
        Evaluation.evaluator,
        Evaluation.version,
        Evaluation.status,
        Evaluation.duration_ms,
        Evaluation.evaluated_at,
    )
    each = [
        select(*columns)
        .where(Evaluation.evaluator == name)
        .order_by(Evaluation.evaluated_at.desc())
        .limit(RECORD_SIZE)
        .subquery()
        for name in names
    ]
    return union_all(*(select(one) for one in each)).subquery()


def _summary(recent: Subquery) -> Select[*tuple[Any, ...]]:
    took = recent.c.duration_ms
    timed = recent.c.status != "skipped"
    return select(
        recent.c.evaluator,
        func.count().label("verdicts"),
        *(func.count().filter(recent.c.status == status).label(status) for status in STATUSES),
        func.count(took).filter(timed).label("timed"),
        percentile(0.5, took).filter(timed).label("p50"),
        percentile(0.95, took).filter(timed).label("p95"),
    ).group_by(recent.c.evaluator)


def _record(name: str, row: Mapping[Any, Any], marked: MarkedShares) -> TrackRecord:
    verdicts = row.get("verdicts", 0)
    return TrackRecord(
        evaluator=name,
        verdicts=verdicts,
        passed=share(row.get("passed", 0), verdicts),
        failed=share(row.get("failed", 0), verdicts),
        errored=share(row.get("errored", 0), verdicts),
        skipped=share(row.get("skipped", 0), verdicts),
        latency=Latency(n=row.get("timed", 0), p50_ms=row.get("p50"), p95_ms=row.get("p95")),
        marked=marked,
    )
