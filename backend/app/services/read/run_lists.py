"""Lists runs: pages in several orders, counts for each status, and the values to filter by."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.core.errors import InvalidInputError
from app.db.engine import Sessions
from app.db.models import Escalation, Run
from app.schemas.api.run_lists import Facet, RunCounts, RunFacets, RunFilter, RunQuery, RunScope, RunSort
from app.schemas.api.runs import RunPage
from app.schemas.runs import RunKind, RunStatus
from app.services.read.metric_runs import MetricOf, runs_behind
from app.services.read.paging import decode_sorted_cursor, encode_sorted_cursor
from app.services.read.runs import load_views

MAX_FACETS = 200
_UNKNOWN_COST = -1.0
_BY_NUMBER = (RunSort.COST, RunSort.TOKENS)

_KEYS: dict[RunSort, ColumnElement[Any]] = {
    RunSort.NEWEST: Run.created_at.expression,
    RunSort.OLDEST: Run.created_at.expression,
    RunSort.UPDATED: Run.updated_at.expression,
    RunSort.COST: func.coalesce(Run.used_cost_usd, _UNKNOWN_COST),
    RunSort.TOKENS: Run.used_input_tokens + Run.used_output_tokens,
}


class RunLists:
    """Lists runs."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def page(self, query: RunQuery) -> RunPage:
        """Return a page of runs.

        A run that moves between two requests (orders `updated`, `cost`, `tokens`) may be on both pages or on
        neither. In the order of creation, every run is on exactly one page.

        Raises:
            InvalidInputError: the cursor is invalid.
        """
        statement = _ordered(query).where(*conditions(query)).limit(query.limit + 1)
        async with self._sessions() as session:
            runs = (await session.scalars(statement)).all()
            items = await load_views(session, runs[: query.limit])
        more = len(runs) > query.limit
        return RunPage(items=items, next_cursor=_cursor(query.sort, runs[query.limit - 1]) if more else None)

    async def page_of(self, kind: RunKind, query: RunQuery) -> RunPage:
        """Return a page of runs of one kind.

        Raises:
            InvalidInputError: the cursor is invalid, or the query asks for other kinds.
        """
        if query.kind and kind not in query.kind:
            raise InvalidInputError(f"this list has only runs of the kind {kind}", field="kind")
        return await self.page(query.model_copy(update={"kind": [kind]}))

    async def counts(self, given: RunFilter) -> RunCounts:
        """Count the runs that match a filter, by status and by kind."""
        statement = (
            select(
                Run.status,
                Run.kind,
                func.count(),
                func.count().filter(_is_asked()),
                func.count().filter(Run.paused_at.is_not(None)),
            )
            .where(*conditions(given))
            .group_by(Run.status, Run.kind)
        )
        async with self._sessions() as session:
            rows = (await session.execute(statement)).all()
        return RunCounts(
            total=sum(count for _, _, count, _, _ in rows),
            needs_human=sum(asked for *_, asked, _ in rows),
            paused=sum(paused for *_, paused in rows),
            by_status={each: sum(count for has, _, count, _, _ in rows if has == each) for each in RunStatus},
            paused_by_status={each: sum(held for has, *_, held in rows if has == each) for each in RunStatus},
            by_kind={each: sum(count for _, has, count, _, _ in rows if has == each) for each in RunKind},
        )

    async def facets(self, scope: RunScope) -> RunFacets:
        """Return the values by which runs can be filtered, most frequent first."""
        async with self._sessions() as session:
            kinds = await _facets(session, Run.kind, scope)
            projects = await _facets(session, Run.project, scope)
            agents = await _facets(session, Run.agent_name, scope)
        return RunFacets(
            kinds=kinds[:MAX_FACETS],
            projects=projects[:MAX_FACETS],
            agents=agents[:MAX_FACETS],
            complete=max(map(len, (kinds, projects, agents))) <= MAX_FACETS,
        )


def conditions(given: RunScope) -> list[ColumnElement[bool]]:
    """Return the conditions that a run in a scope or filter must meet.

    Raises:
        InvalidInputError: there is no such metric, or a part of one is given without it.
    """
    return _scope(given) + (_narrower(given) if isinstance(given, RunFilter) else [])


def _scope(given: RunScope) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if given.since is not None:
        found.append(Run.created_at >= given.since)
    if given.until is not None:
        found.append(Run.created_at < given.until)
    if given.kind:
        found.append(Run.kind.in_(given.kind))
    if given.project:
        found.append(Run.project.in_(given.project))
    if given.agent:
        found.append(Run.agent_name.in_(given.agent))
    return found


def _narrower(given: RunFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if given.status:
        found.append(Run.status.in_(given.status))
    if given.phase:
        found.append(Run.phase.in_(given.phase))
    if given.needs_human is not None:
        found.append(_is_asked() if given.needs_human else ~_is_asked())
    if given.paused is not None:
        found.append(Run.paused_at.is_not(None) if given.paused else Run.paused_at.is_(None))
    if given.q:
        named = [column.icontains(given.q, autoescape=True) for column in (Run.name, Run.goal)]
        as_id = func.cast(Run.id, Run.name.type).startswith(given.q.lower(), autoescape=True)
        found.append(or_(*named, as_id))
    if given.metric is None:
        _refuse_part_of_metric(given)
    else:
        number = MetricOf(given.metric, given.metric_phase, given.metric_key)
        found.append(Run.id.in_(runs_behind(number, given.metric_part, _scope(given))))
    return found


def _refuse_part_of_metric(given: RunFilter) -> None:
    for name in ("metric_phase", "metric_key"):
        if getattr(given, name) is not None:
            raise InvalidInputError("works only together with metric", field=name)


def _is_asked() -> ColumnElement[bool]:
    return exists().where(and_(Escalation.run_id == Run.id, Escalation.status == "open"))


def _ordered(query: RunQuery) -> Select[Run]:
    key, ascending = _KEYS[query.sort], query.sort is RunSort.OLDEST
    statement = select(Run)
    if query.cursor is not None:
        by_time = query.sort not in _BY_NUMBER
        value, row_id = decode_sorted_cursor(query.sort, query.cursor, by_time=by_time)
        here = and_(key == value, Run.id > row_id if ascending else Run.id < row_id)
        statement = statement.where(or_(key > value if ascending else key < value, here))
    order = (key.asc(), Run.id.asc()) if ascending else (key.desc(), Run.id.desc())
    return statement.order_by(*order)


def _cursor(sort: RunSort, last: Run) -> str:
    values: dict[RunSort, datetime | float] = {
        RunSort.UPDATED: last.updated_at,
        RunSort.COST: _UNKNOWN_COST if last.used_cost_usd is None else last.used_cost_usd,
        RunSort.TOKENS: last.used_input_tokens + last.used_output_tokens,
    }
    return encode_sorted_cursor(sort, values.get(sort, last.created_at), last.id)


async def _facets(session: AsyncSession, column: InstrumentedAttribute[Any], scope: RunScope) -> list[Facet]:
    count = func.count()
    statement = (
        select(column, count)
        .where(column.is_not(None), *conditions(scope))
        .group_by(column)
        .order_by(count.desc(), column)
        .limit(MAX_FACETS + 1)
    )
    return [Facet(value=value, runs=runs) for value, runs in await session.execute(statement)]
