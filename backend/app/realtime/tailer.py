"""Reads what was committed to the watched runs and hands it to the hub: one query for each wake-up."""

import logging

from app.realtime.hub import Hub
from app.realtime.inbox import Bell, Inbox
from app.realtime.reader import DATABASE_ERRORS, EventReader

logger = logging.getLogger(__name__)


class Tailer:
    """One for each process; `run` reads until it is cancelled.

    A cursor per run is safe, since numbers are given under the run's row lock: what is visible of a run is
    always a beginning of its sequence, never one with holes that fill later.
    """

    def __init__(self, reader: EventReader, hub: Hub, inbox: Inbox, *, batch: int) -> None:
        self._reader = reader
        self._hub = hub
        self._inbox = inbox
        self._batch = batch

    async def run(self) -> None:
        """Look where the bell was rung, and everywhere at each poll."""
        while True:
            bell = await self._inbox.take()
            try:
                await self._look(bell)
            except DATABASE_ERRORS as error:
                logger.warning("new events cannot be read, the next poll tries again: %s", error)

    async def _look(self, bell: Bell) -> None:
        cursors = self._hub.cursors(None if bell.everywhere else bell.run_ids)
        while cursors:
            news = await self._reader.news(cursors, self._batch)
            for run_id, events in news.items():
                self._hub.publish(run_id, events)
            cursors = self._hub.cursors(
                run_id for run_id, events in news.items() if len(events) >= self._batch
            )
