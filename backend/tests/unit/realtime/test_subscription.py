"""A subscription gives every event once and in order, however commits, replay and stalls interleave."""

import asyncio
import random
from collections.abc import Callable
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest

from app.core.errors import NotFoundError
from app.core.event_frames import DeliveryStart, ResumeMode
from app.core.websocket_events import SprintEventType
from app.realtime.feed import Feed, Ring
from app.realtime.reader import RunHead, StoredEvent
from app.realtime.subscription import DeliveryPace, EventSubscription, SlowClientError, Wish

pytestmark = pytest.mark.anyio

RUN = uuid4()
PATIENCE = 300.0
"""Seconds after which a test that waits fails instead."""

PROGRESS = SprintEventType.AGENT_PROGRESS
PACE = DeliveryPace(batch=3, max_lag=1_000, pause=0.0)


def event(sequence: int, kind: str = PROGRESS) -> StoredEvent:
    return StoredEvent.of(sequence, kind, b"%d" % sequence)


class MemoryLog:
    """A database in memory; every answer takes some turns of the loop and may be an outage first."""

    def __init__(self, chance: random.Random, outages: float = 0.0) -> None:
        self.events: list[StoredEvent] = []
        self.status = "active"
        self.first = 1
        self.exists = True
        self._chance = chance
        self._outages = outages

    def commit(self, kind: str = PROGRESS) -> None:
        self.events.append(event(len(self.events) + 1, kind))

    async def head(self, run_id: UUID) -> RunHead | None:
        found = RunHead(self.status, len(self.events), self.first, "here") if self.exists else None
        await self._travel()
        return found

    async def read(self, run_id: UUID, after: int, limit: int) -> list[StoredEvent]:
        found = self.events[after : after + limit] if self.exists else []
        await self._travel()
        return found

    async def _travel(self) -> None:
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        if self._chance.random() < self._outages:
            raise OSError("the database is unavailable")


class Client:
    """A sink that takes events at once, or only after some turns, as chance will have it."""

    def __init__(self, chance: random.Random, willing: float) -> None:
        self.starts: list[DeliveryStart] = []
        self.got: list[int] = []
        self._chance = chance
        self._willing = willing
        self.changed = asyncio.Event()

    async def begin(self, start: DeliveryStart) -> None:
        self.starts.append(start)
        await asyncio.sleep(0)

    def offer(self, event: StoredEvent) -> bool:
        if self._chance.random() >= self._willing:
            return False
        self._take(event)
        return True

    async def send(self, event: StoredEvent) -> None:
        for _ in range(self._chance.randrange(5)):
            await asyncio.sleep(0)
        self._take(event)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    def _take(self, event: StoredEvent) -> None:
        self.got.append(event.sequence)
        self.changed.set()


def feed_of(max_events: int = 4) -> Feed:
    return Feed(RUN, Ring(max_events=max_events, max_bytes=1_000), on_start=lambda _run_id: None)


def subscription(
    feed: Feed, log: MemoryLog, sink: Client, pace: DeliveryPace = PACE, **options
) -> EventSubscription:
    @contextmanager
    def watched():
        yield feed

    return EventSubscription(watched(), log, sink, pace, Wish(**options))


async def turns_until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until something is true that nobody announces."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never became true")


async def tail(feed: Feed, log: MemoryLog, chance: random.Random) -> None:
    """What the tailer does: reads behind the feed's head, sees it late, publishes it."""
    while True:
        if feed.epoch is not None:
            after = feed.head
            news = log.events[after : after + 3]
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
            feed.publish(news)
        await asyncio.sleep(0)


@pytest.mark.parametrize("seed", range(60))
async def test_every_client_gets_every_event_once_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    log, feed, total = MemoryLog(chance, outages=0.1), feed_of(), 60
    clients: list[tuple[int, Client]] = []
    tasks: list[asyncio.Task[None]] = [asyncio.create_task(tail(feed, log, chance))]
    for _ in range(total):
        log.commit()
        if chance.random() < 0.2:
            after = chance.randrange(len(log.events) + 1)
            client = Client(chance, willing=chance.choice([0.0, 0.5, 0.9, 1.0]))
            clients.append((after, client))
            tasks.append(asyncio.create_task(subscription(feed, log, client, after=after).run()))
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
    for after, client in clients:
        await client.until(lambda client=client, after=after: len(client.got) >= total - after)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert clients
    for after, client in clients:
        assert client.got == list(range(after + 1, total + 1))


async def test_a_lagging_tailer_does_not_repeat_what_the_client_has() -> None:
    log, feed, client = MemoryLog(random.Random(1)), feed_of(), Client(random.Random(1), willing=1.0)
    for _ in range(5):
        log.commit()
    feed.start(RunHead("active", 2, 1, "here"))  # an earlier subscriber looked when there were two events
    one = subscription(feed, log, client, after=4)
    task = asyncio.create_task(one.run())
    await turns_until(lambda: one.served == 4)
    feed.publish(log.events[2:])
    await client.until(lambda: bool(client.got))
    task.cancel()
    await asyncio.wait([task])
    assert client.got == [5]


@pytest.mark.parametrize(
    ("first", "last", "after", "mode", "begins_after"),
    [
        pytest.param(1, 0, 0, ResumeMode.RESUMED, 0, id="no events yet"),
        pytest.param(1, 9, 0, ResumeMode.RESUMED, 0, id="from the beginning"),
        pytest.param(1, 9, 9, ResumeMode.RESUMED, 9, id="at the head"),
        pytest.param(1, 9, 10, ResumeMode.RESET, 0, id="ahead of the head"),
        pytest.param(1, 0, 2**63 - 1, ResumeMode.RESET, 0, id="as far ahead as can be"),
        pytest.param(5, 9, 4, ResumeMode.RESUMED, 4, id="just before what is kept"),
        pytest.param(5, 9, 3, ResumeMode.RESET, 4, id="older than what is kept"),
        pytest.param(10, 9, 2, ResumeMode.RESET, 9, id="nothing is kept"),
    ],
)
def test_start(first: int, last: int, after: int, mode: ResumeMode, begins_after: int) -> None:
    head = RunHead("active", last, first, "here")
    expected = DeliveryStart(mode, begins_after, last, "active", "here")
    assert head.start(after) == head.start(after, "here") == expected


@pytest.mark.parametrize(
    ("first", "after", "mode", "begins_after"),
    [
        pytest.param(1, 4, ResumeMode.RESET, 0, id="a number of another history"),
        pytest.param(1, 9, ResumeMode.RESET, 0, id="that is also the head here"),
        pytest.param(5, 6, ResumeMode.RESET, 4, id="and some is trimmed"),
        pytest.param(1, 0, ResumeMode.RESUMED, 0, id="nothing is a beginning of every history"),
        pytest.param(5, 0, ResumeMode.RESET, 4, id="nothing is too old"),
    ],
)
def test_start_with_a_cursor_of_another_history(
    first: int, after: int, mode: ResumeMode, begins_after: int
) -> None:
    start = RunHead("active", 9, first, "here").start(after, "elsewhere")
    assert start == DeliveryStart(mode, begins_after, 9, "active", "here")


async def test_ends_with_the_run() -> None:
    log, feed, client = MemoryLog(random.Random(2)), feed_of(), Client(random.Random(2), willing=1.0)
    log.commit()
    following = asyncio.create_task(subscription(feed, log, client, until_final=True).run())
    await client.until(lambda: client.got == [1])
    log.commit(SprintEventType.WORKFLOW_COMPLETED)
    log.status = "completed"
    feed.publish(log.events)
    async with asyncio.timeout(PATIENCE):
        await following
    assert client.got == [1, 2]


async def test_of_a_run_that_is_over_only_the_rest_is_given() -> None:
    log, feed, client = MemoryLog(random.Random(3)), feed_of(), Client(random.Random(3), willing=1.0)
    log.commit(SprintEventType.RUN_CANCELLED)
    log.status = "cancelled"
    async with asyncio.timeout(PATIENCE):
        await subscription(feed, log, client, after=1, until_final=True).run()
    assert client.got == []


async def test_filters_drop_events_but_not_their_numbers() -> None:
    log, feed, client = MemoryLog(random.Random(4)), feed_of(), Client(random.Random(4), willing=1.0)
    for kind in (PROGRESS, SprintEventType.PHASE_STARTED, PROGRESS):
        log.commit(kind)
    only = frozenset({SprintEventType.PHASE_STARTED.value})
    one = subscription(feed, log, client, types=only)
    task = asyncio.create_task(one.run())
    await client.until(lambda: bool(client.got))
    await turns_until(lambda: one.served is not None)
    assert (client.got, one.served) == ([2], 3)
    task.cancel()
    await asyncio.wait([task])
    assert one.served is None


async def test_a_run_that_does_not_exist() -> None:
    log = MemoryLog(random.Random(5))
    log.exists = False
    with pytest.raises(NotFoundError, match=str(RUN)):
        await subscription(feed_of(), log, Client(random.Random(5), willing=1.0)).run()


async def test_a_run_that_is_deleted_during_replay() -> None:
    log, feed, client = MemoryLog(random.Random(6)), feed_of(), Client(random.Random(6), willing=0.0)
    for _ in range(10):
        log.commit()
    task = asyncio.create_task(subscription(feed, log, client).run())
    await client.until(lambda: bool(client.got))
    log.exists = False
    with pytest.raises(NotFoundError, match="no run"):
        await task


class StuckClient(Client):
    """Takes nothing until it is released."""

    def __init__(self) -> None:
        super().__init__(random.Random(0), willing=0.0)
        self.released = asyncio.Event()
        self.stuck = asyncio.Event()

    async def send(self, event: StoredEvent) -> None:
        self.stuck.set()
        await self.released.wait()
        await super().send(event)


async def test_a_client_too_far_behind_is_given_up() -> None:
    log, feed, client = MemoryLog(random.Random(7)), feed_of(), StuckClient()
    one = subscription(feed, log, client, DeliveryPace(batch=3, max_lag=5, pause=0.0))
    task = asyncio.create_task(one.run())
    await turns_until(lambda: one.served is not None)
    for _ in range(10):
        log.commit()
        feed.publish(log.events)
        await asyncio.sleep(0)
    await client.stuck.wait()
    client.released.set()
    with pytest.raises(SlowClientError, match="events behind"):
        await task


async def test_a_long_replay_is_not_lag() -> None:
    log, feed, client = MemoryLog(random.Random(8)), feed_of(), Client(random.Random(8), willing=0.0)
    for _ in range(30):
        log.commit()
    one = subscription(feed, log, client, DeliveryPace(batch=3, max_lag=5, pause=0.0))
    task = asyncio.create_task(one.run())
    await client.until(lambda: len(client.got) == 30)
    assert not task.done(), "the client was not dropped"
    task.cancel()
    await asyncio.wait([task])
