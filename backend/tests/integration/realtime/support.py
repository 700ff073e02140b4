"""What the tests of event delivery share: runs in a database, writers, and a real server on loopback."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from app.api.routes import events as event_routes
from app.api.streams.endpoint import socket_routes
from app.core.errors import PhaseRunnerError
from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.core.events.runs import WorkflowCompletedData, WorkflowCompletedEvent
from app.core.events.union import Event
from app.db.engine import Sessions, create_engine, create_sessions, plain_url
from app.db.models import Run
from app.realtime.hub import HubLimits
from app.realtime.listener import ListenerTimings
from app.realtime.protocol import EventHttpProtocol, EventServer, EventWebSocketProtocol
from app.realtime.service import Realtime, RealtimeTimings, open_realtime
from app.realtime.store import append_events
from app.schemas.runs import Usage
from app.services.read.runs import RunQueries
from tests.patience import PATIENCE

QUICK = RealtimeTimings(
    poll=0.05, run_list=0.01, listener=ListenerTimings(check=0.05, answer=5.0, retry=0.01)
)
PATIENT = RealtimeTimings(poll=3_600.0, run_list=0.01, listener=ListenerTimings(retry=0.01))
"""Polls once at the start and then not within a test: what arrives was rung for."""


def progress(run_id: UUID, text: str = "working") -> Event:
    line = ProgressLine(text=text, at=datetime.now(UTC))
    return AgentProgressEvent(
        run_id=run_id, sprint_id=run_id, phase="coding", attempt=1, data=AgentProgressData(lines=[line])
    )


@dataclass(frozen=True)
class Runs:
    """Runs in the database, and their writers."""

    sessions: Sessions
    ring: Callable[[UUID], None]

    async def add(self, **values: Any) -> UUID:
        run = Run(
            id=uuid4(),
            **{
                "kind": "sprint",
                "name": "a run",
                "goal": "make it work",
                "phases": ["discovery", "coding", "verification"],
                "phase": "coding",
                "policy": {},
                "agent": {"backend": "auto"},
                "source": {},
                "status": "active",
                "base_commit": "0" * 40,
                "head_commit": "0" * 40,
                "created_by": "test",
                **values,
            },
        )
        async with self.sessions.begin() as session:
            session.add(run)
        self.ring(run.id)
        return run.id

    async def append(self, run_id: UUID, *events: Event, silent: bool = False) -> int:
        async with self.sessions.begin() as session:
            last = await append_events(session, run_id, events)
        assert last is not None
        if not silent:
            self.ring(run_id)
        return last

    async def progress(self, run_id: UUID, count: int = 1, text: str = "working") -> int:
        return await self.append(run_id, *(progress(run_id, text) for _ in range(count)))

    async def complete(self, run_id: UUID) -> int:
        async with self.sessions.begin() as session:
            run = await session.get_one(Run, run_id, with_for_update=True)
            run.status = "completed"
            await session.flush()
            data = WorkflowCompletedData(commit=None, attempts=1, usage=Usage())
            last = await append_events(
                session, run_id, [WorkflowCompletedEvent(run_id=run_id, sprint_id=run_id, data=data)]
            )
        self.ring(run_id)
        assert last is not None
        return last

    async def delete(self, run_id: UUID) -> None:
        async with self.sessions.begin() as session:
            await session.delete(await session.get_one(Run, run_id))


@dataclass(frozen=True)
class Service:
    """A running server."""

    address: str
    runs: Runs
    realtime: Realtime
    server: EventServer
    serving: asyncio.Task[None]

    def shut_down(self) -> None:
        self.server.should_exit = True

    @property
    def http(self) -> str:
        return f"http://{self.address}"

    def socket(self, path: str = "/ws", **options: Any) -> connect:
        options = {"compression": None, "proxy": None, "close_timeout": 0.1, **options}
        return connect(f"ws://{self.address}/api/v1{path}", **options)


@asynccontextmanager
async def serving(
    database_url: str,
    *,
    timings: RealtimeTimings = QUICK,
    limits: HubLimits | None = None,
    send_buffer: int | None = None,
    port: int = 0,
    protocol: type[asyncio.Protocol] = EventWebSocketProtocol,
) -> AsyncGenerator[Service]:
    """Serve events on loopback; `send_buffer` makes the kernel hold back little for a stalled client."""
    async with (
        _sessions(database_url) as sessions,
        open_realtime(
            plain_url(database_url), RunQueries(sessions).states, timings=timings, limits=limits
        ) as realtime,
    ):
        with closing(socket.socket()) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if send_buffer:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
            listening.bind(("127.0.0.1", port))
            async with _serving(_application(realtime), listening, realtime, protocol) as (server, task):
                host, bound = listening.getsockname()
                runs = Runs(sessions, realtime.doorbell.ring)
                yield Service(f"{host}:{bound}", runs, realtime, server, task)


@asynccontextmanager
async def _sessions(database_url: str) -> AsyncGenerator[Sessions]:
    engine = create_engine(database_url, pool_size=10)
    try:
        yield create_sessions(engine)
    finally:
        await engine.dispose()


@asynccontextmanager
async def _serving(
    application: ASGIApp, listening: socket.socket, realtime: Realtime, protocol: type[asyncio.Protocol]
) -> AsyncGenerator[tuple[EventServer, asyncio.Task[None]]]:
    config = uvicorn.Config(
        application,
        http=EventHttpProtocol,
        ws=protocol,
        ws_max_size=HubLimits().max_frame_bytes,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
    )
    server = EventServer(config, before_shutdown=realtime.hub.close)
    task = asyncio.create_task(server.serve([listening]))
    try:
        await until(lambda: server.started)
        yield server, task
    finally:
        server.should_exit = True
        await task


def _application(realtime: Realtime) -> ASGIApp:
    application = FastAPI()
    application.state.hub = realtime.hub
    application.state.event_reader = realtime.reader
    application.router.routes.extend(socket_routes(realtime.hub))
    application.include_router(event_routes.router)

    @application.exception_handler(PhaseRunnerError)
    async def render(_request: Request, error: PhaseRunnerError) -> JSONResponse:
        return JSONResponse({"code": error.code, "detail": error.detail}, error.status)

    return application


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something that nobody announces."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.005)


async def receive(connection: ClientConnection) -> dict[str, Any]:
    """The next frame."""
    async with asyncio.timeout(PATIENCE):
        frame: dict[str, Any] = json.loads(await connection.recv())
    return frame


async def read_to_close(connection: ClientConnection) -> tuple[Close, list[dict[str, Any]]]:
    """Read to the end; give the server's close frame and what came before it."""
    frames: list[dict[str, Any]] = []
    with suppress(ConnectionClosed):
        while True:
            frames.append(await receive(connection))
    close = connection.protocol.close_rcvd
    assert close is not None
    return close, frames


async def close_code(connection: ClientConnection) -> tuple[int, str]:
    """Read to the end; give the code and the reason."""
    close, _ = await read_to_close(connection)
    return close.code, close.reason


async def receive_events(connection: ClientConnection, count: int) -> list[dict[str, Any]]:
    """The next `count` events; heartbeats between them are passed over."""
    events: list[dict[str, Any]] = []
    while len(events) < count:
        frame = await receive(connection)
        if "event" in frame:
            events.append(frame)
        else:
            assert frame["type"] == "heartbeat", frame
    return events


async def subscribe(connection: ClientConnection, run: UUID | str, **members: Any) -> dict[str, Any]:
    """Subscribe and give the answer."""
    await connection.send(json.dumps({"type": "subscribe", "run": str(run), **members}))
    while (frame := await receive(connection)).get("type") == "heartbeat":
        pass
    return frame
