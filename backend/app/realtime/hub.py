"""Tracks the followers in this process: feeds of watched runs, subscriptions, and their limits."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from app.realtime.feed import Feed, Ring
from app.realtime.reader import EventLog, StoredEvent, Watched
from app.realtime.run_list import RunList
from app.realtime.subscription import DeliveryPace, EventSubscription, Sink, Wish

OnClose = Callable[[], None]
"""Asks one connection to end itself; a separate object for each connection."""


class HubFullError(Exception):
    """The allowed number of connections is open."""


@dataclass(frozen=True, slots=True)
class HubLimits:
    """Bounds on what clients can make a process hold.

    A client is closed if it does not take a frame for `stall_seconds`, or if it falls more
    than `pace.max_lag` events behind. Ring limits are per watched run. `heartbeat_seconds` is
    the period of heartbeats.
    """

    max_connections: int = 4_000
    max_subscriptions: int = 50
    max_frame_bytes: int = 16_384
    ring_events: int = 512
    ring_bytes: int = 4_000_000
    stall_seconds: float = 10.0
    heartbeat_seconds: float = 15.0
    pace: DeliveryPace = field(default_factory=DeliveryPace)


class Hub:
    """Creates subscriptions, and receives what the tailer reads.

    Attributes:
        run_list: changes of all runs.
        limits: the bounds.
    """

    def __init__(
        self, reader: EventLog, run_list: RunList, limits: HubLimits, on_watch: Callable[[UUID], None]
    ) -> None:
        self.run_list = run_list
        self.limits = limits
        self._is_closing = False
        self._reader = reader
        self._on_watch = on_watch
        self._feeds: dict[UUID, Feed] = {}
        self._connections: set[OnClose] = set()

    @property
    def connections(self) -> int:
        """Return how many connections are open."""
        return len(self._connections)

    @contextmanager
    def admitted(self, on_close: OnClose) -> Generator[None]:
        """Count a connection while the block runs, and call its `on_close` when the process shuts down.

        Raises:
            HubFullError: too many connections are open.
        """
        if self.connections >= self.limits.max_connections:
            raise HubFullError(f"there are {self.connections} connections")
        self._connections.add(on_close)
        if self._is_closing:
            on_close()
        try:
            yield
        finally:
            self._connections.discard(on_close)

    def subscription(self, run_id: UUID, sink: Sink, wish: Wish) -> EventSubscription:
        """Return a subscription to one run, which does nothing until its `run` is awaited."""
        return EventSubscription(self._watched(run_id), self._reader, sink, self.limits.pace, wish)

    def close(self) -> None:
        """Ask every connection to end; may be called more than once."""
        self._is_closing = True
        for on_close in list(self._connections):
            on_close()

    def cursors(self, run_ids: Iterable[UUID] | None = None) -> dict[UUID, int]:
        """Return the last published sequence of each watched run, or of those in `run_ids`."""
        feeds = self._feeds.values() if run_ids is None else map(self._feeds.get, run_ids)
        return {feed.run_id: feed.head for feed in feeds if feed is not None and feed.epoch}

    def compare(self, cursors: Mapping[UUID, int], watched: Watched) -> dict[UUID, int]:
        """Void the feeds that disagree with the database, because their runs were deleted or restored.

        Args:
            cursors: the result of `cursors` before the query.
            watched: the result of the query.

        Returns:
            The cursors of the runs that have later events.
        """
        behind: dict[UUID, int] = {}
        for run_id, cursor in cursors.items():
            last = watched.lasts.get(run_id, -1)
            feed = self._feeds.get(run_id)
            if feed is not None and (last < cursor or feed.epoch not in (None, watched.epoch)):
                feed.void()
            elif last > cursor:
                behind[run_id] = cursor
        return behind

    def void(self, run_id: UUID) -> None:
        """Make all followers of a run read its state again."""
        feed = self._feeds.get(run_id)
        if feed is not None:
            feed.void()

    def publish(self, run_id: UUID, events: Sequence[StoredEvent]) -> None:
        """Pass new events of a run to its followers."""
        feed = self._feeds.get(run_id)
        if feed is not None:
            feed.publish(events)

    @contextmanager
    def _watched(self, run_id: UUID) -> Generator[Feed]:
        feed = self._feeds.get(run_id)
        if feed is None:
            ring = Ring(max_events=self.limits.ring_events, max_bytes=self.limits.ring_bytes)
            feed = self._feeds[run_id] = Feed(run_id, ring, self._on_watch)
        feed.users += 1
        try:
            yield feed
        finally:
            feed.users -= 1
            if feed.users == 0:
                del self._feeds[run_id]
