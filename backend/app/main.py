"""Runs the service in one process: API, event delivery and, unless switched off, a worker."""

import asyncio
import contextlib
import resource
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import NamedTuple

import uvicorn

from app.api.app import AccessRules, create_app
from app.api.edge.http_bounds import BoundedHttpProtocol
from app.composition.chores import build_accounts, open_upkeep
from app.composition.database import open_database, open_scratch, open_sessions
from app.composition.services import Container, build_container, build_worker
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.core.security import require_safe_binding
from app.core.signals import ended_by_signals
from app.core.telemetry import configure_logging, configure_telemetry
from app.db.engine import Sessions
from app.db.schema_watch import watching_schema
from app.jobs.worker import running
from app.realtime.hub import HubLimits
from app.realtime.protocol import EventServer, EventWebSocketProtocol
from app.realtime.service import Realtime, RealtimeTimings, open_realtime
from app.realtime.subscription import DeliveryPace
from app.services.access.tokens import TokenNeed
from app.services.read.runs import RunQueries
from app.services.record.model_requests import RequestLedger, open_ledger

_FILES_OF_OUR_OWN = 512
"""Open files kept for the database, models, agents and tools: more than a worker needs by default."""

_READY_POLL_SECONDS = 0.02

Ready = Callable[[str], None]
"""Called with the service's address as soon as the service answers."""


async def serve(settings: Settings, *, ready: Ready | None = None, with_worker: bool = True) -> None:
    """Serve until a signal or a cancellation ends the service.

    Raises:
        InvalidInputError: HOST and PORT cannot be listened on, or must not be without tokens.
        DatabaseSetupError: there is no database, or a newer version has migrated it.
    """
    configure_logging(settings)
    configure_telemetry(settings, service="phaserunner")
    with ended_by_signals(), _listen(settings) as listener:
        async with open_service(settings, with_worker=with_worker) as service:
            container, realtime = service.container, service.realtime
            tokens_exist = await container.tokens.any_valid()
            require_safe_binding(settings.HOST, settings.ALLOWED_HOSTS, tokens_exist=tokens_exist)
            needed = TokenNeed(container.tokens, needed=tokens_exist)
            access = AccessRules(settings.ALLOWED_HOSTS, container.tokens.recognise, needed)
            app = create_app(
                container.api, realtime.hub, realtime.reader, access, version=version("phaserunner")
            )

            def before_shutdown() -> None:
                # In parallel: the worker's grace period runs while connections end.
                service.stop_worker()
                realtime.hub.close()

            server = EventServer(_config(app, settings), before_shutdown=before_shutdown)

            def stop() -> None:
                server.should_exit = True

            async with watching_schema(service.sessions, stop):
                await _run(server, listener, settings, ready)


class OpenService(NamedTuple):
    """Everything behind the API.

    Attributes:
        stop_worker: starts to stop the worker, if there is one, and returns at once.
    """

    container: Container
    realtime: Realtime
    sessions: Sessions
    stop_worker: Callable[[], None]


@asynccontextmanager
async def open_service(settings: Settings, *, with_worker: bool) -> AsyncGenerator[OpenService]:
    """Build and run everything behind the API while the block runs."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(open_database(settings))
        sessions = await stack.enter_async_context(open_sessions(settings, url))
        realtime = await stack.enter_async_context(_open_realtime(settings, url, sessions))
        scratch = await stack.enter_async_context(open_scratch(settings))
        ledger = await stack.enter_async_context(_open_ledger(settings, sessions, realtime))
        container = build_container(settings, sessions, realtime.doorbell, scratch, ledger)
        stop_worker = _no_worker
        if with_worker:
            await container.warn_if_unconfined()
            await stack.enter_async_context(
                open_upkeep(settings, sessions, realtime.doorbell, container.chores)
            )
            stop_worker = await stack.enter_async_context(running(build_worker(settings, url, container)))
        yield OpenService(container, realtime, sessions, stop_worker)


def _open_ledger(
    settings: Settings, sessions: Sessions, realtime: Realtime
) -> AbstractAsyncContextManager[RequestLedger]:
    return open_ledger(sessions, build_accounts(settings), realtime.doorbell)


def _no_worker() -> None:
    """Do nothing; stands in for stopping a worker where there is none."""


def _open_realtime(settings: Settings, url: str, sessions: Sessions) -> AbstractAsyncContextManager[Realtime]:
    limits = HubLimits(
        max_connections=min(settings.EVENT_MAX_CONNECTIONS, _connections_that_fit()),
        max_subscriptions=settings.EVENT_MAX_SUBSCRIPTIONS,
        max_frame_bytes=settings.EVENT_MAX_FRAME_BYTES,
        ring_events=settings.EVENT_RING_EVENTS,
        ring_bytes=settings.EVENT_RING_BYTES,
        stall_seconds=settings.EVENT_STALL_SECONDS,
        heartbeat_seconds=settings.EVENT_HEARTBEAT_SECONDS,
        pace=DeliveryPace(max_lag=settings.EVENT_MAX_LAG),
    )
    timings = RealtimeTimings(poll=settings.EVENT_POLL_SECONDS)
    return open_realtime(url, RunQueries(sessions).states, timings=timings, limits=limits)


def _connections_that_fit() -> int:
    """Return how many clients leave enough open files for everything else."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(files - _FILES_OF_OUR_OWN, files // 2)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.HOST, settings.PORT))
    except OSError as error:
        listener.close()
        raise InvalidInputError(
            f"{settings.HOST}:{settings.PORT} cannot be listened on: {error.strerror or error}. "
            "Choose another with PORT or --port",
            field="PORT",
        ) from error
    return listener


def _config(app: object, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType] - FastAPI is an ASGI application
        http=BoundedHttpProtocol,
        ws=EventWebSocketProtocol,
        ws_max_size=settings.EVENT_MAX_FRAME_BYTES,
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(settings.SHUTDOWN_GRACE_SECONDS)),
    )


async def _run(
    server: uvicorn.Server, listener: socket.socket, settings: Settings, ready: Ready | None
) -> None:
    port = listener.getsockname()[1]
    host = f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn offers no event
            await asyncio.sleep(_READY_POLL_SECONDS)
        if ready is not None and not serving.done():
            ready(f"http://{host}:{port}")
        # Cancelling the server would leave its connections open and write a traceback.
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        raise
