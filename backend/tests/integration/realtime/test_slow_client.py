"""A client that does not read delays nobody, is closed with 4408, and can go on where it was."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from websockets.asyncio.client import ClientConnection

from app.realtime.hub import HubLimits
from app.realtime.protocol import EventWebSocketProtocol
from app.realtime.subscription import DeliveryPace
from tests.integration.realtime.support import (
    Service,
    read_to_close,
    receive_events,
    serving,
    subscribe,
    until,
)
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

BIG = "x" * 100_000
COUNT = 60
"""Events of this size and number overflow every buffer between server and client."""


@asynccontextmanager
async def stalled(service: Service, run_id: UUID) -> AsyncGenerator[ClientConnection]:
    """A subscribed client that then reads no more, with little room in its kernel."""
    host, port = service.address.split(":")
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    narrow.connect((host, int(port)))
    narrow.setblocking(False)
    async with service.socket(sock=narrow, max_queue=1) as connection:
        await subscribe(connection, run_id)
        yield connection


async def write_big(service: Service, run_id: UUID) -> None:
    for _ in range(COUNT):
        await service.runs.progress(run_id, text=BIG)


async def read_until_4408(connection: ClientConnection) -> list[int]:
    """The sequences of the events that came before the close."""
    close, frames = await read_to_close(connection)
    assert close.code == 4408
    return [frame["sequence"] for frame in frames]


async def test_one_that_stalls_delays_no_other_and_goes_on_after_4408(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventWebSocketProtocol, "grace_seconds", 30.0)  # it will read on, but when it can
    limits = HubLimits(stall_seconds=5.0)  # the quick one must never need this long, on any machine
    async with serving(database_url, limits=limits, send_buffer=16_384) as service:
        run_id = await service.runs.add()
        async with service.socket() as quick, stalled(service, run_id) as slow:
            await subscribe(quick, run_id)
            async with asyncio.TaskGroup() as group:
                group.create_task(write_big(service, run_id))
                quick_got = await receive_events(quick, COUNT)
            await until(lambda: service.realtime.hub.cursors().get(run_id) == COUNT)
            await until(lambda: service.realtime.hub.connections == 1)
            slow_got = await read_until_4408(slow)
        async with service.socket() as again:
            await subscribe(again, run_id, after=len(slow_got))
            rest = await receive_events(again, COUNT - len(slow_got))
    everything = list(range(1, COUNT + 1))
    assert [event["sequence"] for event in quick_got] == everything
    assert slow_got + [event["sequence"] for event in rest] == everything
    assert len(slow_got) < COUNT


async def test_one_that_never_reads_again_is_dropped(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventWebSocketProtocol, "grace_seconds", 0.1)
    limits = HubLimits(stall_seconds=0.1, max_connections=1)
    async with serving(database_url, limits=limits, send_buffer=16_384) as service:
        run_id = await service.runs.add()
        async with stalled(service, run_id) as slow:
            await write_big(service, run_id)
            await until(lambda: service.realtime.hub.connections == 0)
            slow.transport.abort()


async def test_one_that_falls_too_far_behind_is_closed(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventWebSocketProtocol, "grace_seconds", 30.0)
    limits = HubLimits(stall_seconds=30.0, pace=DeliveryPace(max_lag=5, batch=3), ring_events=3)
    async with serving(database_url, limits=limits, send_buffer=16_384) as service:
        run_id = await service.runs.add()
        async with stalled(service, run_id) as slow:
            await write_big(service, run_id)
            await until(lambda: service.realtime.hub.cursors().get(run_id) == COUNT)
            assert len(await read_until_4408(slow)) < COUNT


async def test_one_that_stalls_does_not_hold_up_the_shutdown(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventWebSocketProtocol, "grace_seconds", 0.1)
    async with asyncio.timeout(PATIENCE):
        async with serving(database_url, send_buffer=16_384) as service:
            run_id = await service.runs.add()
            async with stalled(service, run_id) as slow:
                await write_big(service, run_id)
                service.shut_down()
                await until(service.serving.done)
                slow.transport.abort()
