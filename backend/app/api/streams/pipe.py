"""One WebSocket client as a place to send frames to, with a bound on how long it may take for one."""

import asyncio
from contextlib import suppress
from uuid import UUID

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from app.core.event_frames import CloseCode, Frame, ResumeMode, Start, SubscribedFrame
from app.realtime.protocol import direct_socket, text_message
from app.realtime.reader import StoredEvent
from app.realtime.subscription import ClientGoneError, SlowClientError


class ClosingError(Exception):
    """The connection is to be closed with `code`."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Pipe:
    """Sends to one accepted WebSocket; at once where the server allows it, else through ASGI."""

    def __init__(self, websocket: WebSocket, *, stall_seconds: float) -> None:
        self._websocket = websocket
        self._stall_seconds = stall_seconds
        self._direct = direct_socket(websocket.scope)

    def offer(self, message: bytes) -> bool:
        """Send one framed message now, or say that it cannot be sent now."""
        return self._direct is not None and self._direct.offer(message)

    def offer_frame(self, frame: Frame) -> bool:
        """Send one control frame now, or say that it cannot be sent now."""
        return self.offer(text_message(frame.wire()))

    async def send(self, text: bytes) -> None:
        """Send one message, waiting until the client takes it.

        Raises:
            SlowClientError: it does not take it in time.
            ClientGoneError: it is gone.
        """
        if self.offer(text_message(text)):
            return
        try:
            async with asyncio.timeout(self._stall_seconds):
                await self._websocket.send_text(text.decode())
        except TimeoutError as error:
            raise SlowClientError(f"a frame was not taken within {self._stall_seconds:g} s") from error
        except (WebSocketDisconnect, RuntimeError) as error:
            # RuntimeError is how ASGI servers answer a message to a connection they have closed themselves.
            raise ClientGoneError("the connection is closed") from error

    async def send_frame(self, frame: Frame) -> None:
        """Send a control frame, as `send`."""
        await self.send(frame.wire())

    async def close(self, code: CloseCode, reason: str) -> None:
        """Close, without waiting for a client that does not read where the server allows that."""
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

    async def begin(self, start: Start) -> None:
        """Say where the events begin."""
        await self._pipe.send_frame(SubscribedFrame.of(self._run_id, start))

    def offer(self, event: StoredEvent) -> bool:
        """Send one event now, or say that it cannot be sent now."""
        return self._pipe.offer(event.message)

    async def send(self, event: StoredEvent) -> None:
        """Send one event, waiting until the client takes it."""
        await self._pipe.send(event.wire)


class PlainSink(RunSink):
    """Sends events only. A client that cannot be told to reset is closed when it has to."""

    async def begin(self, start: Start) -> None:
        """Refuse a cursor that is of no use.

        Raises:
            ClosingError: with 4409.
        """
        if start.mode is ResumeMode.RESET:
            kept = f"{start.after + 1} to {start.head}"
            raise ClosingError(CloseCode.CONFLICT, f"after does not fit: this run's events are {kept}")
