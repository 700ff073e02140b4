"""Sends frames to one WebSocket client, with a bound on the time that the client may take for one."""

import asyncio
from contextlib import suppress
from uuid import UUID

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from app.core.event_frames import CloseCode, DeliveryStart, Frame, ResumeMode, SubscribedFrame
from app.realtime.protocol import direct_socket, text_message
from app.realtime.reader import StoredEvent
from app.realtime.subscription import SlowClientError, SubscriberGoneError


class ClosingError(Exception):
    """The connection must be closed with `code`."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Pipe:
    """Sends to one accepted WebSocket: at once if the server supports it, otherwise through ASGI."""

    def __init__(self, websocket: WebSocket, *, stall_seconds: float) -> None:
        self._websocket = websocket
        self._stall_seconds = stall_seconds
        self._direct = direct_socket(websocket.scope)

    def offer(self, message: bytes) -> bool:
        """Send one framed message now, or return False if that is not possible."""
        return self._direct is not None and self._direct.offer(message)

    def offer_frame(self, frame: Frame) -> bool:
        """Send one control frame now, or return False if that is not possible."""
        return self.offer(text_message(frame.wire()))

    async def send(self, text: bytes) -> None:
        """Send one message, and wait until the client takes it.

        Raises:
            SlowClientError: the client does not take it in time.
            SubscriberGoneError: the client is gone.
        """
        if self.offer(text_message(text)):
            return
        try:
            async with asyncio.timeout(self._stall_seconds):
                await self._websocket.send_text(text.decode())
        except TimeoutError as error:
            raise SlowClientError(f"a frame was not taken within {self._stall_seconds:g} s") from error
        except (WebSocketDisconnect, RuntimeError) as error:
            # ASGI servers raise RuntimeError for a message to a connection that they have closed themselves.
            raise SubscriberGoneError("the connection is closed") from error

    async def send_frame(self, frame: Frame) -> None:
        """Send a control frame, as `send`."""
        await self.send(frame.wire())

    async def close(self, code: CloseCode, reason: str) -> None:
        """Close; if the server supports it, without waiting for a client that does not read."""
        if self._direct is not None:
            self._direct.evict(code, reason)
        elif self._websocket.client_state is WebSocketState.CONNECTED:
            # A client that neither reads nor leaves is left to the server's timeouts.
            with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                async with asyncio.timeout(self._stall_seconds):
                    await self._websocket.close(code, reason)


class RunSink:
    """Sends a run's events to a client that speaks the protocol: `subscribed` first."""

    def __init__(self, pipe: Pipe, run_id: UUID) -> None:
        self._pipe = pipe
        self._run_id = run_id

    async def begin(self, start: DeliveryStart) -> None:
        """Report where the events start."""
        await self._pipe.send_frame(SubscribedFrame.of(self._run_id, start))

    def offer(self, event: StoredEvent) -> bool:
        """Send one event now, or return False if that is not possible."""
        return self._pipe.offer(event.message)

    async def send(self, event: StoredEvent) -> None:
        """Send one event, and wait until the client takes it."""
        await self._pipe.send(event.wire)


class PlainSink(RunSink):
    """Sends only events. A client that needs a reset cannot be told, so it is closed."""

    async def begin(self, start: DeliveryStart) -> None:
        """Refuse an invalid cursor.

        Raises:
            ClosingError: with 4409.
        """
        if start.mode is ResumeMode.RESET:
            kept = f"{start.after + 1} to {start.head}"
            raise ClosingError(CloseCode.CONFLICT, f"after does not fit: this run's events are {kept}")
