"""The WebSocket routes: events of runs as they are committed. The protocol is told in docs/events.md."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, ValidationError

from app.api.event_access import HubDependency
from app.api.socket_conversation import Conversation, read_message
from app.api.socket_pipe import ClosingError, Pipe, PlainSink
from app.api.standing import RevokedError, is_watched, until_revoked
from app.api.until_first import until_first
from app.core.errors import NotFoundError
from app.core.event_frames import MAX_EPOCH_CHARS, MAX_SEQUENCE, CloseCode, ErrorFrame, HeartbeatFrame
from app.realtime.hub import Hub, HubFullError, HubLimits
from app.realtime.subscription import ClientGoneError, SlowClientError, Wish

router = APIRouter(prefix="/api/v1")


class _PlainRequest(BaseModel):
    run_id: UUID
    after: Annotated[int, Field(ge=0, le=MAX_SEQUENCE)] = 0
    epoch: Annotated[str, Field(max_length=MAX_EPOCH_CHARS)] | None = None


@router.websocket("/ws")
async def follow_many(websocket: WebSocket, hub: HubDependency) -> None:
    """Follow runs and the list of runs, named by `subscribe` frames."""

    async def converse(pipe: Pipe) -> None:
        conversation = Conversation(websocket, pipe, hub)
        await _until_end(websocket, conversation.run(), _tend(pipe, hub, conversation.heartbeats))

    await _serve(websocket, hub, converse)


@router.websocket("/ws/sprints/{run_id}")
async def follow_one(
    websocket: WebSocket, hub: HubDependency, run_id: str, after: str = "0", epoch: str | None = None
) -> None:
    """Follow one run without sending anything, from the cursor `?after=&epoch=`."""

    async def stream(pipe: Pipe) -> None:
        request = await _plain_request(pipe, {"run_id": run_id, "after": after, "epoch": epoch})
        sink = PlainSink(pipe, request.run_id)
        subscription = hub.subscription(request.run_id, sink, Wish(request.after, request.epoch))

        def heartbeats() -> list[HeartbeatFrame]:
            return [HeartbeatFrame(run=request.run_id, head=subscription.served)]

        parts = (_ignore_messages(websocket, hub.limits), subscription.run(), _tend(pipe, hub, heartbeats))
        await _until_end(websocket, *parts)

    await _serve(websocket, hub, stream)


async def _serve(websocket: WebSocket, hub: Hub, body: Callable[[Pipe], Awaitable[None]]) -> None:
    # Accepted before anything is checked: a browser is told the close code only of an open socket.
    try:
        await websocket.accept()
    except (WebSocketDisconnect, OSError):
        return  # the client left while it was let in
    pipe = Pipe(websocket, stall_seconds=hub.limits.stall_seconds)
    try:
        with hub.admitted():
            await body(pipe)
    except ClientGoneError:
        pass
    except HubFullError as error:
        await pipe.close(CloseCode.TOO_MANY, str(error))
    except SlowClientError as error:
        await pipe.close(CloseCode.SLOW, str(error))
    except NotFoundError as error:
        await pipe.close(CloseCode.NOT_FOUND, error.detail)
    except RevokedError as error:
        await pipe.close(CloseCode.UNAUTHORIZED, str(error))
    except ClosingError as error:
        await pipe.close(error.code, error.reason)


async def _until_end(websocket: WebSocket, *parts: Coroutine[Any, Any, None]) -> None:
    watched = (until_revoked(websocket.scope),) if is_watched(websocket.scope) else ()
    await until_first(*parts, *watched)


async def _tend(pipe: Pipe, hub: Hub, heartbeats: Callable[[], Iterable[HeartbeatFrame]]) -> None:
    """Send heartbeats until the process shuts down."""
    while True:
        try:
            async with asyncio.timeout(hub.limits.heartbeat_seconds):
                await hub.closing.wait()
        except TimeoutError:
            for frame in heartbeats():
                await pipe.send_frame(frame)
        else:
            raise ClosingError(CloseCode.RESTART, "the service restarts")


async def _plain_request(pipe: Pipe, given: dict[str, str | None]) -> _PlainRequest:
    try:
        return _PlainRequest.model_validate(given)
    except ValidationError as error:
        frame = ErrorFrame.from_validation(error)
        await pipe.send_frame(frame)
        raise ClosingError(CloseCode.BAD_REQUEST, f"{frame.field} is not valid") from error


async def _ignore_messages(websocket: WebSocket, limits: HubLimits) -> None:
    while True:
        await read_message(websocket, limits.max_frame_bytes)
