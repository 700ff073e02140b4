"""Streams a run's events as Server-Sent Events."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.edge.problems import render
from app.api.edge.rechecks import RevokedError, is_watched, until_revoked
from app.api.streams.until_first import until_first
from app.core.errors import BusyError, NotFoundError
from app.core.event_frames import DeliveryStart, ResumeMode, SubscribedFrame
from app.realtime.hub import Hub, HubFullError
from app.realtime.protocol import aborter
from app.realtime.reader import StoredEvent
from app.realtime.subscription import EventSubscription, SlowClientError, SubscriberGoneError, Wish

_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would otherwise hold events back
}


class EventStream(Response):
    """The response that follows one run until it is over, the client leaves or the process shuts down."""

    def __init__(self, hub: Hub, run_id: UUID, wish: Wish) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._hub = hub
        self._run_id = run_id
        self._wish = wish

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        closing = asyncio.Event()
        try:
            with self._hub.admitted(closing.set):
                await self._stream(scope, receive, send, closing)
        except HubFullError as error:
            await render(BusyError(str(error)))(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send, closing: asyncio.Event) -> None:
        sink = StreamSink(send, self._run_id, stall_seconds=self._hub.limits.stall_seconds)
        subscription = self._hub.subscription(self._run_id, sink, replace(self._wish, until_final=True))
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            with suppress(RevokedError):  # a client that returns gets 401
                await until_first(
                    self._deliver(subscription),
                    _until_disconnect(receive),
                    self._beat(sink),
                    _until_set(closing),
                    *((until_revoked(scope),) if is_watched(scope) else ()),
                )
            await sink.write(b"", more=False)
        except SlowClientError:
            if abort := aborter(scope):
                abort()
        except SubscriberGoneError:
            pass

    async def _deliver(self, subscription: EventSubscription) -> None:
        # The run was deleted since the request was checked, so there is nothing more to send.
        with suppress(NotFoundError):
            await subscription.run()

    async def _beat(self, sink: "StreamSink") -> None:
        while True:
            await asyncio.sleep(self._hub.limits.heartbeat_seconds)
            await sink.write(b": heartbeat\n\n")


async def _until_set(closing: asyncio.Event) -> None:
    await closing.wait()


def format_position(sequence: int, epoch: str) -> bytes:
    """Return the `id` of a streamed event, which a browser sends back as `Last-Event-ID`: `57@9f8c…`."""
    return b"%d@%s" % (sequence, epoch.encode())


class StreamSink:
    """Writes events into an open response."""

    def __init__(self, send: Send, run_id: UUID, *, stall_seconds: float) -> None:
        self._send = send
        self._run_id = run_id
        self._stall_seconds = stall_seconds
        self._epoch = ""

    async def begin(self, start: DeliveryStart) -> None:
        """Report a reset if there is one; otherwise send a first line, which opens buffering proxies."""
        self._epoch = start.epoch
        if start.mode is ResumeMode.RESUMED:
            await self.write(b": resumed\n\n")
            return
        frame = SubscribedFrame.of(self._run_id, start)
        position = format_position(start.after, start.epoch)
        await self.write(b"event: reset\nid: %s\ndata: %s\n\n" % (position, frame.wire()))

    def offer(self, event: StoredEvent) -> bool:
        """Return False, because HTTP offers no way to send at once."""
        return False

    async def send(self, event: StoredEvent) -> None:
        """Send one event; JSON text has no line ends, so it is one line of data."""
        position = format_position(event.sequence, self._epoch)
        await self.write(b"id: %s\nevent: %s\ndata: %s\n\n" % (position, event.type.encode(), event.wire))

    async def write(self, chunk: bytes, *, more: bool = True) -> None:
        """Write complete lines; with `more=False`, end the response.

        Raises:
            SlowClientError: the client does not take them in time.
            SubscriberGoneError: the client is gone.
        """
        try:
            async with asyncio.timeout(self._stall_seconds):
                await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
        except TimeoutError as error:
            raise SlowClientError(f"an event was not taken within {self._stall_seconds:g} s") from error
        except OSError as error:
            raise SubscriberGoneError("the connection is closed") from error


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    raise SubscriberGoneError("the client has closed the connection")
