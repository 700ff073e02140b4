"""Follows a run's events from another process, each event once and in order, across reconnects."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # before Python 3.12, pydantic accepts only this one
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from app.core.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PhaseRunnerError,
    UnauthorizedError,
    UnavailableError,
)
from app.core.event_frames import CloseCode, ErrorFrame, ResumeMode, SubscribedFrame, SubscribeFrame
from app.core.websocket_events import FINAL_EVENT_TYPES
from app.schemas.runs import RunStatus

_MAX_EVENT_BYTES = 64 * 1024 * 1024
_REFUSALS = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    CloseCode.UNAUTHORIZED: UnauthorizedError,
    CloseCode.FORBIDDEN: ForbiddenError,
    CloseCode.NOT_FOUND: NotFoundError,
}


class WireEvent(TypedDict):
    """An event as received; its type may be newer than this program."""

    event: str
    run_id: str
    sprint_id: str
    sequence: int
    timestamp: str
    phase: str | None
    attempt: int | None
    trace_id: str | None
    data: dict[str, Any]


_FRAME: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
_EVENT: TypeAdapter[WireEvent] = TypeAdapter(WireEvent)
_FINAL_STATUSES = frozenset(status.value for status in RunStatus if status.is_final)


@dataclass(slots=True)
class Cursor:
    """How far a program has come: everything up to `after`, as counted in the history `epoch`.

    `follow` advances it before it yields an event. Store both values once that event is processed, and pass
    them to continue from there. Without the epoch, a restored database looks like the one before.
    """

    after: int = 0
    epoch: str | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """The events so far are invalid: the service has others or none. Events after `after` follow.

    `snapshot` is the path that returns the run's present state.
    """

    after: int
    snapshot: str | None = None


@dataclass(frozen=True, slots=True)
class Reconnect:
    """Times in seconds for reconnecting.

    The fields are the first pause, the longest pause, how long to try without a connection, and the silence,
    heartbeats included, after which a connection counts as lost.
    """

    first: float = 0.25
    longest: float = 10.0
    give_up_after: float = 60.0
    silence: float = 45.0

    def pauses(self) -> Iterator[float]:
        """Yield pauses that double, each shortened at random so that clients do not all return at once."""
        chance = random.SystemRandom()
        ceiling = self.first
        while True:
            yield chance.uniform(ceiling / 2, ceiling)
            ceiling = min(ceiling * 2, self.longest)


async def follow(
    base_url: str,
    run_id: UUID,
    *,
    after: int = 0,
    cursor: Cursor | None = None,
    token: str | None = None,
    until_final: bool = False,
    reconnect: Reconnect | None = None,
) -> AsyncGenerator[WireEvent | Reset]:
    """Yield the events of a run after `after` as they are committed.

    Args:
        base_url: `http(s)://…` of the service.
        run_id: the run.
        after: the last sequence that the caller has.
        cursor: the same with its epoch, in place of `after`; it is advanced.
        token: sent as a bearer token.
        until_final: whether to end when the run is over and everything was yielded;
            otherwise go on until closed.
        reconnect: how to reconnect after a lost connection.

    Yields:
        Events, and `Reset` if the caller must discard the events so far.

    Raises:
        InvalidInputError: `base_url` is not an HTTP URL.
        UnauthorizedError: the service needs another token.
        ForbiddenError: the token may not read events.
        NotFoundError: there is no such run, or no such service at the URL.
        UnavailableError: the service could not be reached for `reconnect.give_up_after` seconds.
    """
    reconnect = reconnect or Reconnect()
    cursor = cursor or Cursor(after)
    session = _Session(_socket_url(base_url), run_id, cursor, token, until_final, reconnect.silence)
    loop = asyncio.get_running_loop()
    last_contact, pauses = loop.time(), reconnect.pauses()
    while not session.is_over:
        try:
            async with aclosing(session.events()) as events:
                async for event in events:
                    yield event
        except (ConnectionClosed, InvalidHandshake, OSError) as error:
            if refusal := _refusal(error):
                raise refusal from error
            if session.take_contact():
                last_contact, pauses = loop.time(), reconnect.pauses()
            elif loop.time() - last_contact >= reconnect.give_up_after:
                raise UnavailableError(f"{base_url} cannot be reached: {error}") from error
        if not session.is_over:
            await asyncio.sleep(next(pauses))


@dataclass(slots=True)
class _Session:
    """The state that is kept between connections, above all the cursor."""

    url: str
    run_id: UUID
    cursor: Cursor
    token: str | None
    until_final: bool
    silence: float
    is_over: bool = False
    _contact: bool = field(default=False, init=False)
    _end: int | None = field(default=None, init=False)

    def take_contact(self) -> bool:
        """Return whether the service has replied since the last call."""
        contact, self._contact = self._contact, False
        return contact

    async def events(self) -> AsyncGenerator[WireEvent | Reset]:
        """Connect once and yield new events; return at the run's end, or to reconnect after a gap."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else None
        is_local = urlsplit(self.url).hostname in ("127.0.0.1", "::1", "localhost")
        async with connect(
            self.url,
            additional_headers=headers,
            max_size=_MAX_EVENT_BYTES,
            close_timeout=1,
            proxy=None if is_local else True,
        ) as connection:
            frame = SubscribeFrame(run=self.run_id, after=self.cursor.after, epoch=self.cursor.epoch)
            await connection.send(frame.wire().decode())
            async with aclosing(self._receive(connection)) as received:
                async for event in received:
                    yield event

    async def _receive(self, connection: ClientConnection) -> AsyncGenerator[WireEvent | Reset]:
        while not self.is_over:
            async with asyncio.timeout(self.silence):
                frame = _read_frame(await connection.recv())
            self._contact = True
            if self._misses(frame):
                return  # a gap, which the service rules out; reconnect to get the missing events
            if "event" not in frame:
                if reset := self._control(frame):
                    yield reset
            elif frame["sequence"] == self.cursor.after + 1:
                self.cursor.after += 1
                self.is_over = self.until_final and (
                    frame["event"] in FINAL_EVENT_TYPES or self.cursor.after == self._end
                )
                yield cast("WireEvent", frame)

    def _misses(self, frame: dict[str, Any]) -> bool:
        """Return whether a frame shows that an earlier event is missing."""
        if "event" in frame:
            return frame["sequence"] > self.cursor.after + 1
        return frame.get("type") == "heartbeat" and (frame.get("head") or 0) > self.cursor.after

    def _control(self, frame: dict[str, Any]) -> Reset | None:
        """Process a control frame; unknown ones are those of a newer service.

        Raises:
            PhaseRunnerError: the service refuses the subscription.
        """
        if frame.get("type") == "error":
            error = ErrorFrame.model_validate(frame)
            kind = NotFoundError if error.code == NotFoundError.code else UnavailableError
            raise kind(error.detail)
        if frame.get("type") != "subscribed":
            return None
        subscribed = SubscribedFrame.model_validate(frame)
        is_reset = subscribed.mode is ResumeMode.RESET
        self.cursor.epoch = subscribed.epoch
        if is_reset:
            self.cursor.after = subscribed.after
        self._end = subscribed.head if subscribed.status in _FINAL_STATUSES else None
        self.is_over = self.until_final and self.cursor.after == self._end
        return Reset(subscribed.after, subscribed.snapshot) if is_reset else None


def _read_frame(message: str | bytes) -> dict[str, Any]:
    """Parse the frame in a message.

    Raises:
        UnavailableError: the message is not a frame, so the sender is not a PhaseRunner service.
    """
    try:
        frame = _FRAME.validate_json(message)
        return {**_EVENT.validate_python(frame)} if "event" in frame else frame
    except ValidationError as error:
        raise UnavailableError("what answers there does not send events") from error


def _socket_url(base_url: str) -> str:
    parts = urlsplit(base_url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise InvalidInputError(f"{base_url!r} is not a URL like http://127.0.0.1:8000", field="base_url")
    return urlunsplit((scheme, parts.netloc, f"{parts.path.rstrip('/')}/api/v1/ws", "", ""))


def _refusal(error: Exception) -> PhaseRunnerError | None:
    """Return the error if no reconnect can fix it; None if one can."""
    if isinstance(error, InvalidStatus):
        code, detail = error.response.status_code, f"the service answered {error.response.status_code}"
    elif isinstance(error, ConnectionClosed) and error.rcvd is not None:
        code, detail = error.rcvd.code, error.rcvd.reason or f"the service closed with {error.rcvd.code}"
    else:
        return None
    kind = _REFUSALS.get(code)
    return kind(detail) if kind else None
