"""The WebSocket routes: events of runs as they are committed. docs/events.md describes the protocol.

They are plain routes without dependencies, because the framework keeps what it resolves for an endpoint in
memory for as long as the client stays connected (docs/decisions/0020).
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.api.edge.problems import response_to
from app.api.edge.rechecks import RevokedError, watched
from app.api.streams.conversation import Conversation, read_message
from app.api.streams.heartbeats import Heartbeats
from app.api.streams.life import Life
from app.api.streams.pipe import ClosingError, Pipe, PlainSink
from app.api.streams.until_first import cancel_and_wait
from app.core.errors import NotFoundError
from app.core.event_frames import MAX_EPOCH_CHARS, MAX_SEQUENCE, CloseCode, ErrorFrame, HeartbeatFrame
from app.realtime.hub import Hub, HubFullError, HubLimits
from app.realtime.subscription import SlowClientError, SubscriberGoneError, Wish

Follow = Callable[[WebSocket, Pipe, Hub, Life], Awaitable[None]]
"""Serves a client that was admitted."""


class _PlainRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    run_id: UUID
    after: Annotated[int, Field(ge=0, le=MAX_SEQUENCE)] = 0
    epoch: Annotated[str, Field(max_length=MAX_EPOCH_CHARS)] | None = None


async def follow_many(websocket: WebSocket, pipe: Pipe, hub: Hub, life: Life) -> None:
    """Follow the runs and the list of runs that `subscribe` frames name."""
    await Conversation(websocket, pipe, hub, life).run()


async def follow_one(websocket: WebSocket, pipe: Pipe, hub: Hub, life: Life) -> None:
    """Follow one run without sending anything, from the cursor `?after=&epoch=`."""
    request = await _plain_request(pipe, {**websocket.query_params, **websocket.path_params})
    sink = PlainSink(pipe, request.run_id)
    subscription = hub.subscription(request.run_id, sink, Wish(request.after, request.epoch))

    def frames() -> list[HeartbeatFrame]:
        return [HeartbeatFrame(run=request.run_id, head=subscription.served)]

    heartbeats = Heartbeats(pipe, frames, life, hub.limits.heartbeat_seconds)
    following = asyncio.create_task(subscription.run())
    life.tie(following)
    try:
        with life:
            await _ignore_messages(websocket, hub.limits)
    finally:
        heartbeats.stop()
        await cancel_and_wait(following)


def socket_routes(hub: Hub) -> list[WebSocketRoute]:
    """Return the WebSocket routes, each serving one client until it leaves or is closed."""
    many, one = partial(_serve, hub=hub, follow=follow_many), partial(_serve, hub=hub, follow=follow_one)
    return [
        WebSocketRoute("/api/v1/ws", many, name="follow_many"),
        WebSocketRoute("/api/v1/ws/runs/{run_id}", one, name="follow_run"),
        # The former path, for clients that still use it.
        WebSocketRoute("/api/v1/ws/sprints/{run_id}", one, name="follow_sprint"),
    ]


async def _serve(websocket: WebSocket, *, hub: Hub, follow: Follow) -> None:
    # Accept before any check: a browser learns the close code only of an open socket.
    try:
        await websocket.accept()
    except (WebSocketDisconnect, OSError):
        return  # the client left before it was accepted
    pipe = Pipe(websocket, stall_seconds=hub.limits.stall_seconds)
    life = Life()
    restart = partial(life.end, ClosingError(CloseCode.RESTART, "the service restarts"))
    revoke = partial(life.end, RevokedError("the token is no longer valid"))
    try:
        with hub.admitted(restart), watched(websocket.scope, revoke):
            await follow(websocket, pipe, hub, life)
    except SubscriberGoneError:
        pass
    except Exception as error:  # noqa: BLE001 - an edge: nothing outside of this tells the client or the log
        await pipe.close(*_closing(error, websocket.url.path))


def _closing(error: Exception, path: str) -> tuple[CloseCode, str]:
    match error:
        case ClosingError():
            return error.code, error.reason
        case HubFullError():
            return CloseCode.TOO_MANY, str(error)
        case SlowClientError():
            return CloseCode.SLOW, str(error)
        case NotFoundError():
            return CloseCode.NOT_FOUND, error.detail
        case RevokedError():
            return CloseCode.UNAUTHORIZED, str(error)
        case _:
            response_to(error, f"WebSocket {path}")  # for the log
            return CloseCode.RESTART, "try again soon"


async def _plain_request(pipe: Pipe, given: dict[str, str]) -> _PlainRequest:
    try:
        return _PlainRequest.model_validate(given)
    except ValidationError as error:
        frame = ErrorFrame.from_validation(error)
        await pipe.send_frame(frame)
        raise ClosingError(CloseCode.BAD_REQUEST, f"{frame.field} is not valid") from error


async def _ignore_messages(websocket: WebSocket, limits: HubLimits) -> None:
    while True:
        await read_message(websocket, limits.max_frame_bytes)
