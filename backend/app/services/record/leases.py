"""Rows that are due at a given time, each leased to one worker at a time.

A worker that takes a row counts a try and postpones the row by the lease. If the worker dies, the row is due
again after the lease. If its work fails, whatever the reason, the row is postponed and the next one is tried.
What a worker records counts only while its try is the newest one.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, and_, func, inspect, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.db.models import Base
from app.db.outages import is_outage, through_outages

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)
"""How long a row is left to the worker that took it, unless a table has another lease."""

_BATCH = 5
_ERROR_CHARS = 500


class Tried(Protocol):
    """A row that was taken."""

    @property
    def tries(self) -> int:
        """Return how often it was taken, this time included."""
        ...


_Taken = TypeVar("_Taken", bound=Tried)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leases(Generic[_Taken]):
    """The due rows of a table, which has one primary key and counts in `tries` how often a row was taken.

    Attributes:
        sessions: opens short transactions; none is open while a row is worked on.
        table: the table.
        due_at: name of the column with the time at which a row is due.
        make: a dataclass whose fields are the columns to read; the primary key and `tries` are among them.
        waits: further conditions on rows that are due.
        order: name of the column by which rows are ordered; by default `due_at`.
        batch: number of rows that are taken at once.
        lease: how long they are left to the worker that took them.
    """

    sessions: Sessions
    table: type[Base]
    due_at: str
    make: type[_Taken]
    waits: Sequence[ColumnElement[bool]] = ()
    order: str | None = None
    batch: int = _BATCH
    lease: timedelta = LEASE

    async def work(
        self, act: Callable[[_Taken], Awaitable[None]], postpone: Callable[[_Taken, str], Awaitable[None]]
    ) -> int:
        """Call `act` with each due row until none is due, and return how many rows there were.

        Args:
            act: works on a row.
            postpone: records that a row failed, as the text says, and when it is due again. It is called if
                `act` raises.

        Raises:
            Exception: the database was unavailable. The rows that were taken but not tried are due again.
        """
        tried = 0
        while taken := await self.take():
            for number, each in enumerate(taken, start=1):
                try:
                    await self._try(act, postpone, each)
                except Exception:
                    for untried in taken[number:]:
                        await through_outages(partial(self._give_back, untried))
                    raise
            tried += len(taken)
        return tried

    async def _try(
        self,
        act: Callable[[_Taken], Awaitable[None]],
        postpone: Callable[[_Taken, str], Awaitable[None]],
        row: _Taken,
    ) -> None:
        try:
            await act(row)
        except Exception as error:
            # The rows after this one are worked on, whatever it is.
            why = f"{type(error).__name__}: {error}"[:_ERROR_CHARS]
            await through_outages(partial(postpone, row, why))
            if is_outage(error):
                raise
            logger.exception("work on %s %s failed", self.table.__tablename__, self._key_of(row))

    async def record(
        self, key: object, tries: int, values: dict[str, Any], *also: ColumnElement[bool]
    ) -> bool:
        """Record values in a row, unless it was taken again or reset since try number `tries`.

        A worker that was stopped for longer than its lease must not overwrite what the next one recorded.

        Returns:
            False if nothing was recorded: the row was taken again or reset, or does not meet `also`.
        """
        async with self.sessions.begin() as session:
            return await self.record_in(session, key, tries, values, *also)

    async def record_in(
        self,
        session: AsyncSession,
        key: object,
        tries: int,
        values: dict[str, Any],
        *also: ColumnElement[bool],
    ) -> bool:
        """Do what `record` does, in a transaction that changes other rows as well."""
        held = and_(self._key == key, self._column("tries") == tries, *also)
        statement = update(self.table).where(held).values(values).returning(self._key)
        return await session.scalar(statement) is not None

    async def _give_back(self, row: _Taken) -> None:
        values = {"tries": row.tries - 1, self.due_at: func.now()}
        await self.record(self._key_of(row), row.tries, values)

    def _key_of(self, row: _Taken) -> Any:
        return getattr(row, inspect(self.table).primary_key[0].name)

    async def take(self) -> list[_Taken]:
        """Take rows that are due, so that no other worker takes them during their lease."""
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
            .values({"tries": self._column("tries") + 1, self.due_at: func.now() + self.lease})
            .returning(*(self._column(name) for name in names))
        )
        async with self.sessions.begin() as session:
            return [self.make(*each) for each in await session.execute(claim)]

    @property
    def _key(self) -> ColumnElement[Any]:
        return inspect(self.table).primary_key[0]

    def _column(self, name: str) -> ColumnElement[Any]:
        return inspect(self.table).columns[name]
