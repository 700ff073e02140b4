"""One client that follows one run: replay, then live, and replay again if it falls behind.

The law of this module: between the check that nothing is left to replay and going live there is no `await`,
so no event can slip in between.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.errors import NotFoundError
from app.core.event_frames import DeliveryStart, ResumeMode
from app.core.websocket_events import FINAL_EVENT_TYPES
from app.realtime.feed import Feed
from app.realtime.reader import EventLog, RunHead, StoredEvent, until_readable
from app.schemas.runs import RunStatus


class SlowClientError(Exception):
    """The client does not take what is sent to it."""


class SubscriberGoneError(Exception):
    """The client's connection is closed."""


class Sink(Protocol):
    """The receiver of a subscription's events."""

    async def begin(self, start: DeliveryStart) -> None:
        """Report where delivery starts, before the first event and again when it restarts with a reset.

        Raises:
            SlowClientError: as in `send`.
            SubscriberGoneError: as in `send`.
        """
        ...

    def offer(self, event: StoredEvent) -> bool:
        """Send one event now, without waiting; return False if that is not possible."""
        ...

    async def send(self, event: StoredEvent) -> None:
        """Send one event, and wait until the client takes it.

        Raises:
            SlowClientError: the client does not take it in time.
            SubscriberGoneError: the client is gone.
        """
        ...


@dataclass(frozen=True, slots=True)
class DeliveryPace:
    """How a client is served that is not live.

    The fields are the number of events per query, how many events a client may fall behind once it was live,
    and the pause in seconds after the database could not be read.
    """

    batch: int = 200
    max_lag: int = 10_000
    pause: float = 1.0


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client asks for: the events of these types (None for all) after `after`, counted in `epoch`.

    With `until_final`, delivery ends when the run is over and everything was sent.
    """

    after: int = 0
    epoch: str | None = None
    types: frozenset[str] | None = None
    until_final: bool = False


class EventSubscription:
    """Delivers the wanted events of a run, each once and in order, until cancelled.

    If the run's history turns out to be another one, or missing events were trimmed,
    delivery restarts with a reset.
    """

    def __init__(
        self,
        watched: AbstractContextManager[Feed],
        reader: EventLog,
        sink: Sink,
        pace: DeliveryPace,
        wish: Wish,
    ) -> None:
        self._watched = watched
        self._reader = reader
        self._sink = sink
        self._pace = pace
        self._cursor = wish.after
        self._epoch: str | None = wish.epoch
        self._types = wish.types
        self._until_final = wish.until_final
        self._ask_for_end = wish.until_final
        self._end: int | None = None
        self._has_begun = False
        self._must_look = True
        self._live = False
        self._was_live = False
        self._behind: asyncio.Future[None] | None = None

    @property
    def served(self) -> int | None:
        """Return the sequence up to which everything was sent; None while there is more to replay."""
        return self._cursor if self._live else None

    async def run(self) -> None:
        """Deliver events.

        Raises:
            NotFoundError: there is no such run.
            SlowClientError: the client does not keep up and should be closed.
            SubscriberGoneError: the client is gone.
        """
        # Register first, then look: events committed after the look are published to the feed.
        with self._watched as feed:
            feed.join(self)
            try:
                await self._follow(feed)
            finally:
                self._live = False
                feed.leave(self)

    def notify(self, events: Sequence[StoredEvent]) -> None:
        """Send live events at once; from the first one that cannot be sent, leave the rest to `run`."""
        if not self._live:
            return
        for event in events:
            if event.sequence <= self._cursor:
                continue
            if not self._takes(event):
                self._live = False
                self._wake()
                return
            self._cursor = event.sequence

    def look_again(self) -> None:
        """Read the run's state from the database again, and restart from there."""
        self._must_look = True
        self._live = False
        self._wake()

    def _wake(self) -> None:
        if self._behind is not None and not self._behind.done():
            self._behind.set_result(None)

    def _takes(self, event: StoredEvent) -> bool:
        if self._until_final or event.sequence != self._cursor + 1:
            return False
        return not self._wanted(event) or self._sink.offer(event)

    async def _follow(self, feed: Feed) -> None:
        while self._end is None or self._cursor < self._end:
            await self._catch_up(feed)
            if self._ask_for_end:
                self._ask_for_end = False
                head = await self._look(feed)
                self._end = head.last if RunStatus(head.status).is_final else None
                continue  # there was an await, so look for more before going live
            # A future instead of an event, because each connection holds one for as long as it lives.
            self._behind = asyncio.get_running_loop().create_future()
            self._live = self._was_live = True
            await self._behind

    async def _catch_up(self, feed: Feed) -> None:
        while self._must_look or self._cursor < feed.head:
            if self._must_look:
                await self._begin(feed)
            elif self._was_live and feed.head - self._cursor > self._pace.max_lag:
                raise SlowClientError(f"the client is {feed.head - self._cursor} events behind")
            else:
                await self._replay(feed)

    async def _begin(self, feed: Feed, *, kept_from: int = 0) -> None:
        """Find the start of delivery and report it; events before `kept_from` are known to be deleted."""
        head = await self._look_until_valid(feed)
        # There is no await after the look, so the feed does not start with a state that a void has overtaken.
        if not feed.start(head):
            return  # look again
        if kept_from and head.epoch == self._epoch and head.last >= self._cursor:
            head = replace(head, first=min(max(head.first, kept_from), head.last + 1))
        start = head.start(self._cursor, self._epoch)
        is_news = not self._has_begun or start.mode is ResumeMode.RESET or start.epoch != self._epoch
        self._cursor, self._epoch = start.after, start.epoch
        if is_news:
            self._has_begun, self._was_live = True, False
            self._end, self._ask_for_end = None, self._until_final
            await self._sink.begin(start)

    async def _replay(self, feed: Feed) -> None:
        batch = feed.ring.after(self._cursor) or await self._read(feed)
        if self._must_look:
            return  # the batch belongs to a history that no longer exists
        if not batch or batch[0].sequence != self._cursor + 1:
            # The missing events were trimmed since the look, or the whole run was deleted.
            self._must_look = True
            await self._begin(feed, kept_from=batch[0].sequence if batch else feed.head + 1)
            return
        for event in batch:
            if self._must_look or event.sequence != self._cursor + 1:
                return
            await self._deliver(event)

    async def _deliver(self, event: StoredEvent) -> None:
        if self._wanted(event) and not self._sink.offer(event):
            await self._sink.send(event)
        self._cursor = event.sequence
        if self._until_final and event.type in FINAL_EVENT_TYPES:
            self._ask_for_end = True

    def _wanted(self, event: StoredEvent) -> bool:
        return self._types is None or event.type in self._types

    async def _look_until_valid(self, feed: Feed) -> RunHead:
        while True:
            self._must_look = False
            head = await self._look(feed)
            if not self._must_look:
                return head

    async def _look(self, feed: Feed) -> RunHead:
        head = await until_readable(lambda: self._reader.head(feed.run_id), pause_seconds=self._pace.pause)
        if head is None:
            raise NotFoundError(f"there is no run {feed.run_id}")
        return head

    async def _read(self, feed: Feed) -> list[StoredEvent]:
        return await until_readable(
            lambda: self._reader.read(feed.run_id, self._cursor, self._pace.batch),
            pause_seconds=self._pace.pause,
        )
