"""How events reach clients: processor time, memory and latency, for a thousand clients and more.

Server, clients and writer are separate processes. Texts are random. The compared ways take turns.
"""

import asyncio
import secrets
import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import logfire

from app.composition.database import open_sessions
from app.core.config import Settings
from app.core.event_frames import SubscribeFrame
from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.core.events.union import Event
from app.db.embedded.server import acquire
from app.db.engine import Sessions
from app.db.migrate import upgrade_to_head
from app.realtime.service import open_doorbell
from app.realtime.store import Batch, Fence
from app.services.record.transactions import EventBell, Recorder
from benchmarks.event_clients import Crowd
from benchmarks.event_servers import Broadcast, PhaseRunner, Server
from benchmarks.figures import Series
from harness.rows import add_run

TITLE = "delivery: from the insert of an event to its arrival at many clients"
MANY, MOST, FEW = 1_000, 3_000, 100
ROUNDS = 5
STALLED_ROUNDS = 3
BURST, BURST_PAUSE = 40, 0.05
STEADY, STEADY_PAUSE = 250, 0.02  # 50 events a second, for five seconds
FLOOD, LONG_TEXT = 60, 200_000
"""Events of another run, more than the buffers of one connection hold."""
STALL_SECONDS = 16.0
"""After which a client that does not read is dropped: ten for a message, five for saying good-bye."""

Send = Callable[[str], Awaitable[None]]


class _Silence:
    def ring(self, run_id: UUID) -> None:
        """The bell is lost."""


@dataclass(frozen=True, slots=True)
class _Writer:
    """Stores events of one run as a worker does."""

    run_id: UUID
    recorder: Recorder

    async def send(self, text: str) -> None:
        """Store one."""
        if not await self.recorder.progress(self.run_id, Fence(0, 0), Batch([_event(self.run_id, text)])):
            raise AssertionError("the run was taken away")

    @property
    def subscribe(self) -> str:
        """The frame that subscribes to this run."""
        return SubscribeFrame(run=self.run_id).model_dump_json(exclude_none=True)


@dataclass(frozen=True, slots=True)
class _Scene:
    server: PhaseRunner
    sessions: Sessions
    bell: EventBell

    async def writer(self, *, silent: bool = False) -> _Writer:
        """A writer to a new run."""
        run_id = await add_run(self.sessions, uuid4())
        return _Writer(run_id, Recorder(self.sessions, _Silence() if silent else self.bell))


async def measure(place: Path) -> list[Series]:
    """Measure one after the other, on one server."""
    async with _scene(place) as scene:
        return [
            *await _fan_out(scene),
            *await _most(scene),
            *await _steady(scene),
            *await _one_stalled(scene),
            *await _no_bell(scene),
        ]


async def _fan_out(scene: _Scene) -> list[Series]:
    writer = await scene.writer()
    with Broadcast() as reference, Crowd() as crowd, Crowd() as other:
        before = scene.server.memory_kb()
        await crowd.connect(scene.server.port, scene.server.path, writer.subscribe, MANY)
        await _burst(scene.server, writer.send, crowd)
        memory = (scene.server.memory_kb() - before) / MANY
        await other.connect(reference.port, reference.path, "", MANY)

        async def broadcast(text: str) -> None:
            await reference.send(_event(writer.run_id, text).model_dump_json())

        await _burst(reference, broadcast, other)
        ours: list[float] = []
        theirs: list[float] = []
        for turn in range(ROUNDS):
            for is_ours in (True, False) if turn % 2 else (False, True):
                if is_ours:
                    ours.append(await _burst(scene.server, writer.send, crowd))
                else:
                    theirs.append(await _burst(reference, broadcast, other))
    ratios = [one / two for one, two in zip(ours, theirs, strict=True)]
    return [
        Series(f"{MANY} clients: processor time per delivery", ours, "µs"),
        Series(f"{MANY} clients: the same, websockets.broadcast", theirs, "µs"),
        Series(f"{MANY} clients: service / broadcast", ratios, "x", 1.33),
        Series(f"{MANY} clients: memory of each connection", [memory], "KB", 64.0),
    ]


async def _burst(server: Server, send: Send, crowd: Crowd) -> float:
    """Send events, each to all clients; give the server's processor time for each delivery in µs."""
    before = server.cpu_seconds()
    await _paced(send, BURST, BURST_PAUSE)
    await crowd.take(BURST * MANY)
    return (server.cpu_seconds() - before) / (BURST * MANY) * 1e6


async def _most(scene: _Scene) -> list[Series]:
    writer = await scene.writer()
    slowest: list[float] = []
    with Crowd() as crowd:
        await crowd.connect(scene.server.port, scene.server.path, writer.subscribe, MOST)
        for turn in range(ROUNDS * 2 + 1):
            await _paced(writer.send, 1, 0.5)
            seconds = await crowd.take(MOST)
            if turn:
                slowest.append(_p99(seconds) * 1000)
    return [Series(f"{MOST} clients: one event to all, p99", slowest, "ms", 250.0)]


async def _steady(scene: _Scene) -> list[Series]:
    writer = await scene.writer()
    medians: list[float] = []
    slowest: list[float] = []
    with Crowd() as crowd:
        await crowd.connect(scene.server.port, scene.server.path, writer.subscribe, FEW)
        for turn in range(ROUNDS + 1):
            await _paced(writer.send, STEADY, STEADY_PAUSE)
            seconds = await crowd.take(STEADY * FEW)
            if turn:
                medians.append(statistics.median(seconds) * 1000)
                slowest.append(_p99(seconds) * 1000)
    return [
        Series(f"{FEW} clients, 50 events/s: insert -> client, p50", medians, "ms", 12.0),
        Series(f"{FEW} clients, 50 events/s: insert -> client, p99", slowest, "ms", 30.0),
    ]


async def _one_stalled(scene: _Scene) -> list[Series]:
    flood = await scene.writer()
    await _paced(flood.send, FLOOD, 0.01, LONG_TEXT)
    alone: list[float] = []
    beside: list[float] = []
    for turn in range(STALLED_ROUNDS):
        for is_stalled in (False, True) if turn % 2 else (True, False):
            stalled = flood.subscribe if is_stalled else None
            (beside if is_stalled else alone).append(await _beside(scene, stalled))
    ratios = [one / two for one, two in zip(beside, alone, strict=True)]
    return [
        Series(f"{FEW} clients, none stalled: p99", alone, "ms"),
        Series(f"{FEW} clients and one stalled: the others' p99", beside, "ms"),
        Series("one stalled / none stalled", ratios, "x", 2.0),
    ]


async def _beside(scene: _Scene, flood: str | None) -> float:
    """The 99th percentile in ms, beside a client that stalls in a flood of events."""
    writer = await scene.writer()
    at = (scene.server.port, scene.server.path, writer.subscribe)
    with Crowd() as crowd:
        await crowd.connect(*at, FEW)
        if flood is not None:
            await crowd.stall(*at, flood)
        await _paced(writer.send, STEADY, STEADY_PAUSE)
        seconds = await crowd.take(STEADY * FEW)
        if flood is not None:
            await asyncio.sleep(STALL_SECONDS - STEADY * STEADY_PAUSE)
            if await crowd.wake() != FEW:
                raise AssertionError("a client that does not read was not dropped")
    return _p99(seconds) * 1000


async def _no_bell(scene: _Scene) -> list[Series]:
    writer = await scene.writer(silent=True)
    slowest: list[float] = []
    with Crowd() as crowd:
        await crowd.connect(scene.server.port, scene.server.path, writer.subscribe, FEW)
        for _ in range(ROUNDS * 4):
            await _paced(writer.send, 1, secrets.randbelow(1000) / 1000)
            slowest.append(max(await crowd.take(FEW)))
    slowest.sort(reverse=True)
    return [Series("no bell: insert -> client, the ten slowest of twenty", slowest[:10], "s", 1.2)]


async def _paced(send: Send, count: int, pause: float, length: int = 300) -> None:
    """Send random texts at fixed times, whether or not the one before was stored in time."""
    started = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for index in range(count):
            await asyncio.sleep(started + (index + 1) * pause - time.monotonic())
            group.create_task(_coroutine(send, length))


async def _coroutine(send: Send, length: int) -> None:
    await send(f"sent at {time.monotonic_ns()}; {secrets.token_hex(length // 2)}")


def _event(run_id: UUID, text: str) -> Event:
    data = AgentProgressData(lines=[ProgressLine(text=text, at=datetime.now(UTC))])
    return AgentProgressEvent(run_id=run_id, sprint_id=run_id, phase="coding", attempt=1, data=data)


def _p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98]


@asynccontextmanager
async def _scene(place: Path) -> AsyncGenerator[_Scene]:
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with AsyncExitStack() as stack:
            sessions = await stack.enter_async_context(open_sessions(Settings(DATA_DIR=place), lease.url))
            bell = await stack.enter_async_context(open_doorbell(lease.url))
            server = stack.enter_context(PhaseRunner(lease.url, place / "data"))
            yield _Scene(server, sessions, bell)
    finally:
        lease.release()
