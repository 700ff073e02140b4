"""Measures how figures develop over time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, or_, select

from app.core.errors import InvalidInputError
from app.db.engine import Sessions, begin_measuring
from app.db.models import Run
from app.schemas.api.metrics import Bucket, MetricQuery, Trend, TrendPoint, TrendQuery
from app.schemas.api.run_lists import MetricName
from app.services.measure.links import MetricLinks
from app.services.read.run_lists import conditions
from app.services.record.cases import run_cases
from app.services.record.phase_outcomes import alike, counted

MAX_POINTS = 800


class TrendService:
    """Measures runs by the time they were created.

    Args:
        sessions: opens short sessions.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def trend(self, query: TrendQuery) -> Trend:
        """Return one point for each step from the first run to the last, including steps without runs.

        Raises:
            InvalidInputError: there would be too many points.
        """
        stretch = func.date_trunc(query.bucket.value, Run.created_at, "UTC")
        runs = run_cases(*alike(conditions(query), stretch)).c
        start = runs.created_at.label("start")
        statement = (
            select(
                start,
                counted(runs.runs),
                counted(runs.runs, runs.passed_1),
                counted(runs.runs, runs.settled_1),
                counted(runs.runs, runs.passed_3),
                counted(runs.runs, runs.settled_3),
                counted(runs.runs, runs.escalated),
                counted(runs.runs, or_(runs.escalated, runs.over)),
            )
            .group_by(start)
            .order_by(start)
        )
        async with self._sessions() as session:
            await begin_measuring(session)
            found = {row[0]: tuple(row)[1:] for row in await session.execute(statement)}
        if not found:
            return Trend(bucket=query.bucket, points=[])
        starts = list(_steps(min(found), max(found), query.bucket))
        return Trend(
            bucket=query.bucket,
            points=[_point(query, each, found.get(each, (0,) * 7)) for each in starts],
        )


def _steps(first: datetime, last: datetime, bucket: Bucket) -> Iterator[datetime]:
    here = first.astimezone(UTC)
    for _ in range(MAX_POINTS):
        yield here
        here = following(here, bucket)
        if here > last:
            return
    raise InvalidInputError(f"more than {MAX_POINTS} points; choose wider ones", field="bucket")


def following(start: datetime, bucket: Bucket) -> datetime:
    """Return the start of the next step."""
    match bucket:
        case Bucket.DAY:
            return start + timedelta(days=1)
        case Bucket.WEEK:
            return start + timedelta(days=7)
        case Bucket.MONTH:
            return (start.replace(day=1) + timedelta(days=32)).replace(day=1)


def _point(query: TrendQuery, start: datetime, counts: tuple[int, ...]) -> TrendPoint:
    runs, passed_1, settled_1, passed_3, settled_3, escalated, ended = counts
    end = following(start, query.bucket)
    scope = {
        "since": max(start, query.since) if query.since else start,
        "until": min(end, query.until) if query.until else end,
    }
    links = MetricLinks(MetricQuery.model_validate({**dict(query), **scope}))
    return TrendPoint(
        start=start,
        runs=runs,
        pass_at_1=links.share((passed_1, settled_1), MetricName.PASS_AT_1),
        pass_at_3=links.share((passed_3, settled_3), MetricName.PASS_AT_3),
        escalated=links.share((escalated, ended), MetricName.ESCALATED),
    )
