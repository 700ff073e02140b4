"""However commits, bells, polls, trims and restores interleave: what a client holds has no gap and no double.

The database is a list in memory whose answers are true when they are asked for and come later. Hypothesis
chooses the order of everything, shrinks what fails, and the loop does nothing of its own accord.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.core.event_frames import DeliveryStart, ResumeMode
from app.realtime.hub import Hub, HubLimits
from app.realtime.inbox import HintInbox
from app.realtime.reader import Mark, RunHead, StoredEvent, Watched
from app.realtime.run_list import RunList
from app.realtime.subscription import DeliveryPace, Wish
from app.realtime.tailer import Tailer
from app.schemas.api.runs import ListedRun

RUN = uuid4()
BATCH = 3
LIMITS = HubLimits(ring_events=4, pace=DeliveryPace(batch=BATCH, max_lag=1_000, pause=0.0))
POLLS = 4
TURNS = 150


@dataclass
class Database:
    """One run's events by their number; each is the name of the history that it belongs to."""

    late: Callable[[], int]
    epoch: int = 0
    last: int = 0
    events: dict[int, int] = field(default_factory=dict)

    def commit(self, count: int) -> None:
        for _ in range(count):
            self.last += 1
            self.events[self.last] = self.epoch

    def trim(self, sequence: int) -> None:
        self.events = {number: epoch for number, epoch in self.events.items() if number > sequence}

    def lose(self, sequence: int) -> None:
        self.events.pop(sequence, None)

    def restore(self, last: int) -> None:
        self.epoch += 1
        self.last = min(last, self.last)
        self.events = {number: self.epoch for number in self.events if number <= self.last}

    async def head(self, run_id: UUID) -> RunHead | None:
        found = RunHead("active", self.last, min(self.events, default=self.last + 1), str(self.epoch))
        return await self._later(found)

    async def watched(self, run_ids: Collection[UUID]) -> Watched:
        return await self._later(Watched(str(self.epoch), dict.fromkeys(run_ids, self.last)))

    async def news(self, cursors: Mapping[UUID, int], limit: int) -> dict[UUID, list[StoredEvent]]:
        found = {run_id: self.behind(after, limit) for run_id, after in cursors.items()}
        return await self._later({run_id: events for run_id, events in found.items() if events})

    async def read(self, run_id: UUID, after: int, limit: int) -> list[StoredEvent]:
        return await self._later(self.behind(after, limit))

    def behind(self, after: int, limit: int) -> list[StoredEvent]:
        numbers = sorted(number for number in self.events if number > after)[:limit]
        return [StoredEvent.of(number, "agent.progress", b"%d" % self.events[number]) for number in numbers]

    async def _later(self, answer: Any) -> Any:
        for _ in range(self.late()):
            await asyncio.sleep(0)
        return answer


@dataclass
class Client:
    """Keeps what the protocol tells it to keep; a frame that does not fit what it has is an error."""

    willing: Callable[[], int]
    after: int | None = None
    held: list[int] = field(default_factory=list)

    async def begin(self, start: DeliveryStart) -> None:
        if self.after is None or start.mode is ResumeMode.RESET:
            self.after = start.after
            self.held = []
        assert self.cursor == start.after
        await asyncio.sleep(0)

    @property
    def cursor(self) -> int:
        assert self.after is not None
        return self.after + len(self.held)

    def offer(self, event: StoredEvent) -> bool:
        if self.willing() == 0:
            return False
        self._take(event)
        return True

    async def send(self, event: StoredEvent) -> None:
        for _ in range(self.willing()):
            await asyncio.sleep(0)
        self._take(event)

    def _take(self, event: StoredEvent) -> None:
        assert event.sequence == self.cursor + 1
        self.held.append(int(event.wire))


class NoRuns:
    """Nobody follows the list of runs here."""

    async def epoch(self) -> str:
        return ""

    async def marks(self) -> dict[UUID, Mark]:
        return {}


def run_list() -> RunList:
    async def no_states(_run_ids: Collection[UUID]) -> list[ListedRun]:
        return []

    return RunList(NoRuns(), no_states, HintInbox(1.0), pace_seconds=1.0)


class World:
    """The real tailer, hub and subscriptions between the database and the clients."""

    def __init__(self, late: Callable[[], int]) -> None:
        self.late = late
        self.database = Database(late)
        self.hub = Hub(self.database, run_list(), LIMITS, lambda _run_id: self.ring())
        self.clients: list[Client] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._inbox = HintInbox(poll_seconds=1_000.0)
        self._start(Tailer(self.database, self.hub, self._inbox, batch=BATCH).run())

    def commit(self, count: int, is_heard: bool) -> None:
        self.database.commit(count)
        if is_heard:
            self.ring()

    def join(self, after: int, epoch: int) -> None:
        client = Client(self.late)
        self.clients.append(client)
        wish = Wish(min(after, self.database.last + 2), str(epoch % (self.database.epoch + 1)))
        self._start(self.hub.subscription(RUN, client, wish).run())

    def ring(self) -> None:
        self._inbox.ring([RUN])

    def poll(self) -> None:
        self._inbox.ring_everywhere()

    async def settle(self) -> None:
        """Poll, as it is done every second, until everyone has everything; then see that it stays so."""
        for _ in range(POLLS):
            self.poll()
            for _ in range(TURNS):
                await asyncio.sleep(0)
        for task in self.tasks:
            assert not task.done(), task
            task.cancel()
        await asyncio.wait(self.tasks)

    def check(self) -> None:
        for client in self.clients:
            assert client.cursor == self.database.last
            assert set(client.held) <= {self.database.epoch}

    def _start(self, body: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.create_task(body))


COMMIT = st.tuples(st.just("commit"), st.integers(1, 4), st.booleans())
JOIN = st.tuples(st.just("join"), st.integers(0, 8), st.integers(0, 2))
TURNS_PASS = st.tuples(st.just("turns"), st.integers(1, 8))
POLL = st.tuples(st.just("poll"))
TRIM = st.tuples(st.just("trim"), st.integers(1, 12))
LOSE = st.tuples(st.just("lose"), st.integers(1, 12))
RESTORE = st.tuples(st.just("restore"), st.integers(0, 8))
CALM = st.lists(st.one_of(COMMIT, JOIN, TURNS_PASS), min_size=8, max_size=40)
STORMY = st.lists(st.one_of(COMMIT, JOIN, TURNS_PASS, POLL, TRIM, LOSE, RESTORE), min_size=8, max_size=40)
PATIENCE = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@given(CALM, PATIENCE)
@settings(max_examples=200)
def test_while_runs_go_on_and_clients_come(play: Sequence[tuple[Any, ...]], patience: Sequence[int]) -> None:
    asyncio.run(_played(play, patience))


# A client that comes while the feed still holds the history before a restore must not be given any of it.
JOINED_AFTER_A_RESTORE = [
    *(("commit", 3, True), ("commit", 3, True), ("turns", 3), ("join", 0, 0), ("turns", 6)),
    *(("commit", 3, True), ("turns", 6), ("trim", 12), ("restore", 7), ("join", 5, 1), ("turns", 6)),
    *(("commit", 2, False), ("turns", 8), ("poll",)),
]


@example(JOINED_AFTER_A_RESTORE, [1])
@given(STORMY, PATIENCE)
@settings(max_examples=200)
def test_while_events_are_trimmed_and_restored(
    play: Sequence[tuple[Any, ...]], patience: Sequence[int]
) -> None:
    asyncio.run(_played(play, patience))


async def _played(play: Sequence[tuple[Any, ...]], patience: Sequence[int]) -> None:
    turn = 0

    def late() -> int:
        nonlocal turn
        turn += 1
        return patience[turn % len(patience)]

    world = World(late)
    acts: Mapping[str, Callable[..., None]] = {
        "commit": world.commit,
        "trim": world.database.trim,
        "lose": world.database.lose,
        "restore": world.database.restore,
        "join": world.join,
        "poll": world.poll,
    }
    for name, *given_values in play:
        if name == "turns":
            for _ in range(given_values[0]):
                await asyncio.sleep(0)
        else:
            acts[name](*given_values)
    await world.settle()
    world.check()
