"""Keeps the latest events of one watched run in memory, for all its followers in this process."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Protocol
from uuid import UUID

from app.realtime.reader import RunHead, StoredEvent

logger = logging.getLogger(__name__)


class Ring:
    """The latest events without gaps, bounded by number and by size."""

    def __init__(self, *, max_events: int, max_bytes: int) -> None:
        self._events: deque[StoredEvent] = deque()
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._bytes = 0

    def extend(self, events: Sequence[StoredEvent]) -> None:
        """Add the next events in order, and drop the oldest beyond the bounds."""
        for event in events:
            if self._events and event.sequence != self._events[-1].sequence + 1:
                self.clear()
            self._events.append(event)
            self._bytes += len(event.message)
        while self._events and (len(self._events) > self._max_events or self._bytes > self._max_bytes):
            self._bytes -= len(self._events.popleft().message)

    def after(self, cursor: int) -> list[StoredEvent]:
        """Return all events after `cursor`; empty if there are none or the ring starts too late."""
        if not self._events or cursor + 1 < self._events[0].sequence:
            return []
        return list(islice(self._events, cursor + 1 - self._events[0].sequence, None))

    def clear(self) -> None:
        """Drop all events."""
        self._events.clear()
        self._bytes = 0


class Follower(Protocol):
    """Receives new events at once, without waiting."""

    def notify(self, events: Sequence[StoredEvent]) -> None:
        """Receive the next events of the run, in order; some may be known already."""
        ...

    def look_again(self) -> None:
        """Read the run's state again, because its history is no longer the same."""
        ...


class Feed:
    """The state of one run in this process.

    Attributes:
        run_id: the run.
        head: the last sequence that was published here.
        epoch: the history that `head` belongs to; None until it is read from the database. Until
            then nothing is published.
        ring: the latest published events.
        users: how many users keep the feed alive.
    """

    def __init__(self, run_id: UUID, ring: Ring, on_start: Callable[[UUID], None]) -> None:
        self.run_id = run_id
        self.head = 0
        self.epoch: str | None = None
        self.ring = ring
        self.users = 0
        self._on_start = on_start
        self._followers: dict[Follower, None] = {}

    def start(self, head: RunHead) -> bool:
        """Start after `head`, which was read from the database after the feed was registered.

        Only the first call sets the feed's head. For later callers, the feed's head may be before or after
        the one that they read. Both are right: the caller replays what it lacks and gets nothing twice.

        Returns:
            False if `head` belongs to another history than the feed. One of the two is outdated, but it is
            unknown which, so all followers look again.
        """
        if self.epoch is None:
            self.epoch = head.epoch
            self.head = head.last
            self._on_start(self.run_id)
        elif self.epoch != head.epoch:
            self.void()
            return False
        return True

    def void(self) -> None:
        """Forget all state, because the run was deleted, restored or trimmed. All followers look again."""
        self.epoch = None
        self.head = 0
        self.ring.clear()
        for follower in list(self._followers):
            follower.look_again()

    def join(self, follower: Follower) -> None:
        """Notify `follower` of every event from now on."""
        self._followers[follower] = None

    def leave(self, follower: Follower) -> None:
        """Stop notifying `follower`."""
        self._followers.pop(follower, None)

    def publish(self, events: Sequence[StoredEvent]) -> None:
        """Pass new events to all followers; events up to the head were published before."""
        if self.epoch is None:
            return
        fresh = [event for event in events if event.sequence > self.head]
        if not fresh:
            return
        if (fresh[0].sequence, fresh[-1].sequence) != (self.head + 1, self.head + len(fresh)):
            self.void()  # events were trimmed while they were read
            return
        self.head = fresh[-1].sequence
        self.ring.extend(fresh)
        for follower in list(self._followers):
            try:
                follower.notify(fresh)
            except Exception:
                # One broken connection must not keep the event from the followers after it.
                logger.exception("cannot deliver events of run %s to a client", self.run_id)
                follower.look_again()
