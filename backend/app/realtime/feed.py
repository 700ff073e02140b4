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
    """The last events without gaps between them, bounded by number and by size."""

    def __init__(self, *, max_events: int, max_bytes: int) -> None:
        self._events: deque[StoredEvent] = deque()
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._bytes = 0

    def extend(self, events: Sequence[StoredEvent]) -> None:
        """Keep these, the next in order, and forget the oldest beyond the bounds."""
        for event in events:
            if self._events and event.sequence != self._events[-1].sequence + 1:
                self.clear()
            self._events.append(event)
            self._bytes += len(event.message)
        while self._events and (len(self._events) > self._max_events or self._bytes > self._max_bytes):
            self._bytes -= len(self._events.popleft().message)

    def after(self, cursor: int) -> list[StoredEvent]:
        """All events behind `cursor`; empty when the ring does not reach back to it, or has no later one."""
        if not self._events or cursor + 1 < self._events[0].sequence:
            return []
        return list(islice(self._events, cursor + 1 - self._events[0].sequence, None))

    def clear(self) -> None:
        """Forget everything."""
        self._events.clear()
        self._bytes = 0


class Follower(Protocol):
    """Receives new events at once and without waiting."""

    def notify(self, events: Sequence[StoredEvent]) -> None:
        """Take the next events of the run, in order; some may be known already."""
        ...

    def look_again(self) -> None:
        """Forget where the run stood: its events are not what they were."""
        ...


class Feed:
    """One run as this process knows it.

    Attributes:
        run_id: the run.
        head: the last sequence that was published here.
        epoch: which history of events `head` belongs to; None until it was read from the database, and until
            then nothing is published.
        ring: the latest published events.
        users: how many keep the feed alive.
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
        """Begin behind `head`, read from the database after the feed was registered; the first one counts.

        With a later caller the feed's head may be before or behind what that one read. Both are right: the
        caller replays what it lacks, and gets nothing twice.

        Returns:
            False when `head` is of another history than the feed. One of the two is gone, and it is unknown
            which, and all followers look again.
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
        """Forget everything: the run was deleted, restored or trimmed. All followers look again."""
        self.epoch = None
        self.head = 0
        self.ring.clear()
        for follower in list(self._followers):
            follower.look_again()

    def join(self, follower: Follower) -> None:
        """Tell `follower` of every event from now on."""
        self._followers[follower] = None

    def leave(self, follower: Follower) -> None:
        """Tell it no more."""
        self._followers.pop(follower, None)

    def publish(self, events: Sequence[StoredEvent]) -> None:
        """Hand new events to all followers. What is not behind the head was published before."""
        if self.epoch is None:
            return
        fresh = [event for event in events if event.sequence > self.head]
        if not fresh:
            return
        if (fresh[0].sequence, fresh[-1].sequence) != (self.head + 1, self.head + len(fresh)):
            self.void()  # trimmed while they were read
            return
        self.head = fresh[-1].sequence
        self.ring.extend(fresh)
        for follower in list(self._followers):
            try:
                follower.notify(fresh)
            except Exception:
                # One broken connection must not keep the event from everyone behind it in the row.
                logger.exception("a follower of run %s cannot be told of events", self.run_id)
                follower.look_again()
