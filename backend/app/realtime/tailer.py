"""Reads new events of watched runs and passes them to the hub, with one query per wake-up."""

import logging
from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from app.realtime.hub import Hub
from app.realtime.inbox import Hint, HintInbox
from app.realtime.reader import DATABASE_ERRORS, StoredEvent, Watched

logger = logging.getLogger(__name__)


class News(Protocol):
    """The committed events of many runs, as the tailer reads them; raises `DATABASE_ERRORS`."""

    async def watched(self, run_ids: Collection[UUID]) -> Watched:
        """Return the last sequences of these runs."""
        ...

    async def news(self, cursors: Mapping[UUID, int], limit: int) -> dict[UUID, list[StoredEvent]]:
        """Return the first `limit` events after its cursor of each run that has any."""
        ...


class Tailer:
    """Reads for one process; `run` reads until it is cancelled.

    A cursor per run is safe, because numbers are assigned under the run's row lock: the visible events of a
    run are always a prefix of its sequence, without holes that fill later.
    """

    def __init__(self, reader: News, hub: Hub, inbox: HintInbox, *, batch: int) -> None:
        self._reader = reader
        self._hub = hub
        self._inbox = inbox
        self._batch = batch

    async def run(self) -> None:
        """Look at the runs of each bell, and at all runs with each poll."""
        while True:
            bell = await self._inbox.take()
            try:
                await self._look(bell)
            except DATABASE_ERRORS as error:
                logger.warning("cannot read new events, retrying at the next poll: %s", error)

    async def _look(self, bell: Hint) -> None:
        if bell.everywhere:
            await self._look_everywhere()
        else:
            await self._publish_behind(self._hub.cursors(bell.run_ids))

    async def _look_everywhere(self) -> None:
        """Find new events without a bell, and runs that were deleted or restored."""
        cursors = self._hub.cursors()
        if not cursors:
            return
        behind = self._hub.compare(cursors, await self._reader.watched(cursors))
        found = await self._publish_behind(behind)
        for run_id in behind.keys() - found:
            self._hub.void(run_id)  # the events after its cursor were trimmed before they were read

    async def _publish_behind(self, cursors: Mapping[UUID, int]) -> set[UUID]:
        """Publish everything after the cursors, and return the runs that had new events."""
        found: set[UUID] = set()
        while cursors:
            news = await self._reader.news(cursors, self._batch)
            found |= news.keys()
            for run_id, events in news.items():
                self._hub.publish(run_id, events)
            more = [run_id for run_id, events in news.items() if len(events) >= self._batch]
            cursors = self._hub.cursors(more)
        return found
