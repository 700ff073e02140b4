"""Rows that are due at a given time, each leased to one worker at a time.

A worker that takes a row counts a try and postpones the row by the lease. If the worker dies, the row is due
again after the lease. What a worker records counts only while its try is the newest one.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, and_, func, inspect, select, update

from app.db.engine import Sessions
from app.db.models import Base

LEASE = timedelta(minutes=15)

_BATCH = 5
_Taken = TypeVar("_Taken")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leases(Generic[_Taken]):
    """The due rows of a table, which has one primary key and counts in `tries` how often a row was taken.

    Attributes:
        sessions: opens short transactions; none is open while a row is worked on.
        table: the table.
        due_at: name of the column with the time at which a row is due.
        make: a dataclass whose fields are the columns to read.
        waits: further conditions on rows that are due.
        order: name of the column by which rows are ordered; by default `due_at`.
        batch: number of rows that are taken at once.
    """

    sessions: Sessions
    table: type[Base]
    due_at: str
    make: type[_Taken]
    waits: Sequence[ColumnElement[bool]] = ()
    order: str | None = None
    batch: int = _BATCH

    async def work(self, act: Callable[[_Taken], Awaitable[None]]) -> int:
        """Call `act` with each due row until none is due, and return how many rows there were."""
        tried = 0
        while taken := await self._take():
            for each in taken:
                await act(each)
            tried += len(taken)
        return tried

    async def record(
        self, key: object, tries: int, values: dict[str, Any], *also: ColumnElement[bool]
    ) -> None:
        """Record values in a row, unless it was taken again or reset since try number `tries`.

        A worker that was stopped for longer than its lease must not overwrite what the next one recorded.
        """
        held = and_(self._key == key, self._column("tries") == tries, *also)
        async with self.sessions.begin() as session:
            await session.execute(update(self.table).where(held).values(values))

    async def _take(self) -> list[_Taken]:
        due = (
            select(self._key)
            .where(self._column(self.due_at) <= func.now(), *self.waits)
            .order_by(self._column(self.order or self.due_at))
            .limit(self.batch)
            .with_for_update(skip_locked=True)
        )
        names = [each.name for each in fields(self.make)]  # pyright: ignore[reportArgumentType]
        claim = (
            update(self.table)
            .where(self._key.in_(due.scalar_subquery()))
            .values({"tries": self._column("tries") + 1, self.due_at: func.now() + LEASE})
            .returning(*(self._column(name) for name in names))
        )
        async with self.sessions.begin() as session:
            return [self.make(*each) for each in await session.execute(claim)]

    @property
    def _key(self) -> ColumnElement[Any]:
        return inspect(self.table).primary_key[0]

    def _column(self, name: str) -> ColumnElement[Any]:
        return inspect(self.table).columns[name]
