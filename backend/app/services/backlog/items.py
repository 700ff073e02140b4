"""Changes the backlog: adds, orders and removes items, and sets limits of projects."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import ConflictError, InvalidInputError, NotFoundError
from app.db.engine import Sessions
from app.db.models import BacklogDependency, BacklogItem, BacklogProject, Run
from app.schemas.api.backlog import (
    BacklogAdd,
    BacklogChange,
    BacklogItemCreate,
    BacklogItems,
    BacklogItemView,
    BacklogProjectChange,
    BacklogProjectView,
    Dependency,
)
from app.schemas.api.sprints import SprintCreate
from app.schemas.forges import ForgeOrigin
from app.schemas.workspaces import GitSource
from app.services.backlog.planning import WaitingItem, find_cycle, why_not
from app.services.backlog.reading import item_view, known_issues, load_facts, load_needs, project_view
from app.services.control.idempotency import UNKEYED, Once
from app.services.control.intake import Intake, name_of
from app.workspaces.sources.inspection import inspect_source

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('backlog dependencies', 0))")
_ISSUES = text("SELECT pg_advisory_xact_lock(hashtextextended('backlog issues', 0))")


@dataclass(frozen=True, slots=True)
class _New:
    id: UUID
    item: BacklogItemCreate
    project: str
    origin: ForgeOrigin | None = None


class BacklogService:
    """Changes the backlog.

    Args:
        sessions: opens transactions.
        intake: checks which sources can be used.
    """

    def __init__(self, sessions: Sessions, intake: Intake) -> None:
        self._sessions = sessions
        self._intake = intake

    async def add(
        self,
        request: BacklogAdd,
        actor: str,
        once: Once = UNKEYED,
        origins: Sequence[ForgeOrigin] = (),
    ) -> BacklogItems:
        """Add items, all of them or none.

        Args:
            request: the items.
            actor: the name of the person or token that asks.
            once: the request, for which a repetition has no second effect.
            origins: issues, one for each item; those that are known by now are left out. Such items depend on
                nothing. Empty if no item has one.

        Raises:
            InvalidInputError: a dependency does not exist, dependencies form a cycle, or a source cannot be
                used; the message names the item.
            ReplayError: the same request has added the items in the meantime.
        """
        places = list(origins) or [None] * len(request.items)
        new = [
            _New(uuid4(), item, await self._project(index, item.sprint), origin)
            for index, (item, origin) in enumerate(zip(request.items, places, strict=True))
        ]
        needs = _resolve(new)
        async with self._sessions.begin() as session:
            await once.claim(session)
            if origins:
                new = await _without_known_issues(session, new)
            await _require_known(session, new, needs)
            session.add_all(_row(each, actor) for each in new)
            await session.flush()
            session.add_all(each for found in needs for each in found)
            await session.flush()
            await _say_why(session, new)
            view = await self._views(session, [each.id for each in new])
            await once.keep(session, view)
        return view

    async def change(self, item_id: UUID, change: BacklogChange) -> BacklogItemView:
        """Change a waiting item's priority or dependencies.

        Raises:
            NotFoundError: there is no such item.
            ConflictError: the item no longer waits.
            InvalidInputError: a dependency does not exist, or dependencies would form a cycle.
        """
        async with self._sessions.begin() as session:
            await session.execute(_LOCK)
            row = await _waiting(session, item_id)
            if change.priority is not None:
                row.priority = change.priority
            if change.depends_on is not None:
                await _depend(session, row, change.depends_on)
            row.next_at = datetime.now(UTC)
            await session.flush()
            return (await self._views(session, [item_id])).items[0]

    async def remove(self, item_id: UUID) -> BacklogItemView:
        """Take a waiting item off the backlog; items that depend on it show that it was removed.

        Raises:
            NotFoundError: there is no such item.
            ConflictError: the item no longer waits.
        """
        async with self._sessions.begin() as session:
            row = await _waiting(session, item_id)
            row.status = "removed"
            await session.flush()
            return (await self._views(session, [item_id])).items[0]

    async def change_project(self, change: BacklogProjectChange, actor: str) -> BacklogProjectView:
        """Pause or resume a project's backlog, and set its limits."""
        async with self._sessions.begin() as session:
            new = insert(BacklogProject).values(project=change.project).on_conflict_do_nothing()
            await session.execute(new)
            row = await session.get_one(BacklogProject, change.project, with_for_update=True)
            if change.limits is not None:
                for name, value in change.limits.model_dump().items():
                    setattr(row, name, value)
            if change.paused is not None and change.paused != (row.paused_at is not None):
                row.paused_at = datetime.now(UTC) if change.paused else None
                row.paused_by = actor if change.paused else None
            await session.flush()
            return await project_view(session, change.project)

    async def _project(self, index: int, sprint: SprintCreate) -> str:
        source = sprint.source
        if isinstance(source, GitSource) and urlsplit(source.url).password:
            raise InvalidInputError(
                "the backlog keeps no passwords; name a `credential` instead",
                field=f"items.{index}.sprint.source.url",
            )
        return (await inspect_source(source, self._intake.sources, self._intake.git)).location

    async def _views(self, session: AsyncSession, ids: Sequence[UUID]) -> BacklogItems:
        found = await session.scalars(select(BacklogItem).where(BacklogItem.id.in_(ids)))
        rows = {each.id: each for each in found}
        needs = await load_needs(session, ids)
        return BacklogItems(items=[item_view(rows[each], needs.get(each, ())) for each in ids])


async def _without_known_issues(session: AsyncSession, new: Sequence[_New]) -> list[_New]:
    # One import at a time, so that the second of two sees the issues of the first.
    await session.execute(_ISSUES)
    places = {(each.origin.forge, each.origin.repository) for each in new if each.origin}
    numbers = [each.origin.issue for each in new if each.origin and each.origin.issue is not None]
    known = {(*place, number) for place in places for number in await known_issues(session, *place, numbers)}
    return [
        each
        for each in new
        if each.origin is None or (each.origin.forge, each.origin.repository, each.origin.issue) not in known
    ]


async def _say_why(session: AsyncSession, new: Sequence[_New]) -> None:
    """Store at once why items do not start, rather than leave it to a worker a few seconds later."""
    needs = await load_needs(session, [each.id for each in new])
    facts = {project: await load_facts(session, project) for project in {each.project for each in new}}
    for each in new:
        row, now = await session.get_one(BacklogItem, each.id), datetime.now(UTC)
        found = WaitingItem(id=each.id, needs=[one for _, one in needs.get(each.id, ())], next_at=now)
        row.reason = why_not(found, facts[each.project], now)
    await session.flush()


def _row(new: _New, actor: str) -> BacklogItem:
    sprint = new.item.sprint
    return BacklogItem(
        id=new.id,
        project=new.project,
        name=sprint.name or name_of(sprint.goal),
        request=sprint.model_dump(mode="json", by_alias=True, exclude_none=True),
        origin=new.origin.model_dump(mode="json") if new.origin else None,
        priority=new.item.priority,
        created_by=actor,
        created_at=datetime.now(UTC),
    )


def _resolve(new: Sequence[_New]) -> list[list[BacklogDependency]]:
    """Replace keys by the ids of their items, and refuse cycles among the keys."""
    ids = {each.item.key: each.id for each in new if each.item.key is not None}
    names = {str(each.id): each.item.key or f"item {index}" for index, each in enumerate(new)}
    found: list[list[BacklogDependency]] = []
    for index, each in enumerate(new):
        wanted: dict[UUID, BacklogDependency] = {}
        for position, dependency in enumerate(each.item.depends_on):
            field = f"items.{index}.depends_on.{position}.on"
            needs = ids.get(dependency.on) or _uuid(dependency.on, field)
            wanted[needs] = BacklogDependency(item_id=each.id, needs=needs, until=dependency.until)
        found.append(list(wanted.values()))
    edges = {
        str(each.id): [str(needed.needs) for needed in needs] for each, needs in zip(new, found, strict=True)
    }
    _refuse_cycle(find_cycle(edges), names, "items")
    return found


def _refuse_cycle(cycle: Sequence[str], names: dict[str, str], field: str) -> None:
    if cycle:
        told = " → ".join(names.get(each, each) for each in cycle)
        raise InvalidInputError(f"these items wait for each other: {told}", field=field)


def _uuid(text_of_id: str, field: str) -> UUID:
    try:
        return UUID(text_of_id)
    except ValueError as error:
        raise InvalidInputError(
            f"{text_of_id!r} is neither an id nor a key in this request", field=field
        ) from error


async def _require_known(
    session: AsyncSession, new: Sequence[_New], needs: Sequence[Sequence[BacklogDependency]]
) -> None:
    own = {each.id for each in new}
    wanted = {each.needs for found in needs for each in found} - own
    missing = wanted - await _known(session, wanted)
    for index, found in enumerate(needs):
        for each in found:
            if each.needs in missing:
                raise InvalidInputError(
                    f"there is no item or run {each.needs}", field=f"items.{index}.depends_on"
                )


async def _known(session: AsyncSession, ids: set[UUID]) -> set[UUID]:
    items = await session.scalars(select(BacklogItem.id).where(BacklogItem.id.in_(ids)))
    runs = await session.scalars(select(Run.id).where(Run.id.in_(ids)))
    return {*items, *runs}


async def _depend(session: AsyncSession, row: BacklogItem, wanted: Sequence[Dependency]) -> None:
    needs = {_uuid(each.on, "depends_on"): each.until for each in wanted}
    if missing := set(needs) - await _known(session, set(needs)):
        raise InvalidInputError(f"there is no item or run {min(map(str, missing))}", field="depends_on")
    statement = (
        select(BacklogDependency.item_id, BacklogDependency.needs)
        .join(BacklogItem, BacklogItem.id == BacklogDependency.item_id)
        .where(BacklogItem.status == "waiting", BacklogItem.id != row.id)
    )
    edges: dict[str, list[str]] = {str(row.id): [str(each) for each in needs]}
    for item, other in await session.execute(statement):
        edges.setdefault(str(item), []).append(str(other))
    _refuse_cycle(find_cycle(edges), {}, "depends_on")
    await session.execute(delete(BacklogDependency).where(BacklogDependency.item_id == row.id))
    rows: list[dict[str, Any]] = [
        {"item_id": row.id, "needs": each, "until": until} for each, until in needs.items()
    ]
    session.add_all(BacklogDependency(**each) for each in rows)


async def _waiting(session: AsyncSession, item_id: UUID) -> BacklogItem:
    row = await session.get(BacklogItem, item_id, with_for_update=True)
    if row is None:
        raise NotFoundError(f"there is no backlog item {item_id}")
    if row.status != "waiting":
        state = {"removed": "was removed", "started": "has started"}.get(row.status, "is about to start")
        raise ConflictError(f"the item {row.name!r} {state}")
    return row
