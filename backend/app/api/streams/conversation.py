"""The conversation on `/api/v1/ws`: reads frames and serves one client's subscriptions."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError
from starlette.websockets import WebSocket

from app.api.streams.heartbeats import Heartbeats
from app.api.streams.life import Life
from app.api.streams.pipe import ClosingError, Pipe, RunSink
from app.api.streams.until_first import cancel_and_wait
from app.core.errors import NotFoundError
from app.core.event_frames import (
    CLIENT_FRAME_ADAPTER,
    RUNS,
    ClientFrame,
    CloseCode,
    ErrorFrame,
    HeartbeatFrame,
    ResumeMode,
    SubscribedFrame,
    SubscribeFrame,
    UnsubscribedFrame,
)
from app.realtime.hub import Hub
from app.realtime.run_list import RunListFollower
from app.realtime.subscription import EventSubscription, SubscriberGoneError, Wish

Topic = UUID | Literal["runs"]


async def read_message(websocket: WebSocket, max_bytes: int) -> str:
    """Return the next text message.

    Raises:
        SubscriberGoneError: the client has closed the connection.
        ClosingError: the message is binary or too large.
    """
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise SubscriberGoneError("the client has closed the connection")
    text: str | None = message.get("text")
    if text is None:
        raise ClosingError(CloseCode.UNSUPPORTED, "messages are JSON text")
    if len(text) > max_bytes or len(text.encode()) > max_bytes:
        raise ClosingError(CloseCode.TOO_BIG, f"a message has at most {max_bytes} bytes")
    return text


class Conversation:
    """One client's subscriptions: at most one for each run, and one for the list of runs."""

    def __init__(self, websocket: WebSocket, pipe: Pipe, hub: Hub, life: Life) -> None:
        self._websocket = websocket
        self._pipe = pipe
        self._hub = hub
        self._life = life
        self._tasks: dict[Topic, asyncio.Task[None]] = {}
        self._subscriptions: dict[UUID, EventSubscription] = {}

    async def run(self) -> None:
        """Read frames and deliver until the client leaves or must be closed.

        Raises:
            SubscriberGoneError: the client is gone.
            SlowClientError: the client does not keep up.
            ClosingError: the connection must be closed for another reason.
        """
        heartbeats = Heartbeats(self._pipe, self._heartbeats, self._life, self._hub.limits.heartbeat_seconds)
        try:
            with self._life:
                await self._read()
        finally:
            heartbeats.stop()
            await cancel_and_wait(*self._tasks.values())

    def _heartbeats(self) -> list[HeartbeatFrame]:
        """Return one frame for each run that is live, or a bare one."""
        served = {run_id: each.served for run_id, each in self._subscriptions.items()}
        frames = [
            HeartbeatFrame(run=run_id, head=head) for run_id, head in served.items() if head is not None
        ]
        return frames or [HeartbeatFrame()]

    async def _read(self) -> None:
        while True:
            text = await read_message(self._websocket, self._hub.limits.max_frame_bytes)
            try:
                frame = CLIENT_FRAME_ADAPTER.validate_json(text)
            except ValidationError as error:
                await self._pipe.send_frame(ErrorFrame.from_validation(error))
            else:
                await self._obey(frame)

    async def _obey(self, frame: ClientFrame) -> None:
        former = self._tasks.pop(frame.run, None)
        if former is not None:
            # Wait for its end: nothing of the old subscription may follow the answer to this frame.
            await cancel_and_wait(former)
        if not isinstance(frame, SubscribeFrame):
            await self._pipe.send_frame(UnsubscribedFrame(run=frame.run))
        elif len(self._tasks) >= self._hub.limits.max_subscriptions:
            raise ClosingError(CloseCode.TOO_MANY, f"there are {len(self._tasks)} subscriptions")
        elif frame.run == RUNS:
            self._start(RUNS, self._follow_list())
        else:
            types = frozenset(frame.filters) if frame.filters else None
            self._start(frame.run, self._follow_run(frame.run, Wish(frame.after, frame.epoch, types)))

    def _start(self, topic: Topic, body: Coroutine[Any, Any, None]) -> None:
        task = self._tasks[topic] = asyncio.create_task(body)
        task.add_done_callback(partial(self._forget, topic))
        self._life.tie(task)

    def _forget(self, topic: Topic, ended: asyncio.Task[None]) -> None:
        if self._tasks.get(topic) is ended:
            del self._tasks[topic]

    async def _follow_run(self, run_id: UUID, wish: Wish) -> None:
        sink = RunSink(self._pipe, run_id)
        subscription = self._subscriptions[run_id] = self._hub.subscription(run_id, sink, wish)
        try:
            await subscription.run()
        except NotFoundError as error:
            await self._pipe.send_frame(ErrorFrame(code=error.code, detail=error.detail, run=run_id))
        finally:
            del self._subscriptions[run_id]

    async def _follow_list(self) -> None:
        follower = RunListFollower()
        try:
            await self._hub.run_list.join(follower)
            # Changes are states without numbers, so there is nothing to resume: the
            # client fetches the list anew.
            await self._pipe.send_frame(SubscribedFrame(run=RUNS, mode=ResumeMode.RESET))
            while True:
                for wire in await follower.fetch():
                    await self._pipe.send(wire)
        finally:
            self._hub.run_list.leave(follower)
