"""Heartbeats go out at once where they can, one by one where they cannot, and find who is too slow."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.types import Message
from starlette.websockets import WebSocket

from app.api.streams.heartbeats import Heartbeats
from app.api.streams.life import Life
from app.api.streams.pipe import Pipe
from app.core.event_frames import HeartbeatFrame
from app.realtime.protocol import DIRECT_EXTENSION, text_message
from app.realtime.subscription import SlowClientError
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

FRAME = HeartbeatFrame()


@dataclass
class Client:
    """A client that takes messages at once, when it is let, or never."""

    at_once: bool = False
    takes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    got: list[bytes] = field(default_factory=list[bytes])
    asked: int = 0

    async def pipe(self, stall_seconds: float = 60.0) -> Pipe:
        scope = {"type": "websocket", "extensions": {DIRECT_EXTENSION: self}}
        websocket = WebSocket(scope, self.receive, self.send)
        await websocket.accept()
        return Pipe(websocket, stall_seconds=stall_seconds)

    async def receive(self) -> Message:
        return {"type": "websocket.connect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "websocket.send":
            self.asked += 1
            await self.takes.acquire()
            self.got.append(message["text"].encode())

    def offer(self, message: bytes) -> bool:
        if self.at_once:
            self.got.append(message)
        return self.at_once

    def evict(self, code: int, reason: str) -> None:
        raise AssertionError("heartbeats close nothing themselves")


async def until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.001)


async def test_they_are_sent_at_once_until_they_are_stopped() -> None:
    client = Client(at_once=True)
    heartbeats = Heartbeats(await client.pipe(), lambda: [FRAME], Life(), 0.001)
    await until(lambda: len(client.got) >= 3)
    heartbeats.stop()
    count = len(client.got)
    await asyncio.sleep(0.01)
    assert client.got == [text_message(FRAME.wire())] * count


async def test_a_client_that_is_behind_gets_them_one_after_the_other() -> None:
    client = Client()
    heartbeats = Heartbeats(await client.pipe(), lambda: [FRAME], Life(), 0.001)
    await until(lambda: client.asked == 1)
    await asyncio.sleep(0.01)
    assert client.asked == 1
    client.takes.release()
    await until(lambda: client.asked == 2)
    heartbeats.stop()
    assert client.got == [FRAME.wire()]


async def test_a_client_that_takes_none_is_too_slow() -> None:
    life = Life()
    heartbeats = Heartbeats(await Client().pipe(stall_seconds=0.01), lambda: [FRAME], life, 0.001)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(SlowClientError), life:
            await asyncio.Event().wait()
    heartbeats.stop()
