"""The client drops what it has, asks again for what is missing, and knows when to give up."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Any
from uuid import UUID

import pytest
from websockets.asyncio.server import Response, Server, ServerConnection, serve
from websockets.datastructures import Headers

from app.client import Cursor, Reconnect, Reset, follow
from app.core.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PhaseRunnerError,
    UnauthorizedError,
    UnavailableError,
)

pytestmark = pytest.mark.anyio

RUN = UUID("0197a000-0000-7000-8000-000000000001")
QUICKLY = Reconnect(first=0.001, longest=0.002, give_up_after=30.0)
AT_ONCE = Reconnect(first=0.001, longest=0.001, give_up_after=0.0)

Play = Callable[[ServerConnection, dict[str, Any]], Awaitable[None]]


def event(sequence: int, kind: str = "agent.progress") -> dict[str, Any]:
    return {
        "event": kind,
        "run_id": str(RUN),
        "sprint_id": str(RUN),
        "sequence": sequence,
        "timestamp": "2026-11-21T06:00:00Z",
        "phase": None,
        "attempt": None,
        "trace_id": None,
        "data": {},
    }


def subscribed(after: int, **members: Any) -> dict[str, Any]:
    return {"type": "subscribed", "run": str(RUN), "head": 9, "after": after, "mode": "resumed"} | members


class FakeService:
    """Answers each connection with the next of its plays; keeps what it was asked."""

    def __init__(self, *plays: list[dict[str, Any]] | tuple[int, str]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self._plays = iter(plays)

    async def answer(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.authorizations.append(connection.request.headers.get("Authorization"))
        self.asked.append(json.loads(await connection.recv()))
        play = next(self._plays)
        if isinstance(play, tuple):
            await connection.close(*play)
            return
        for frame in play:
            await connection.send(json.dumps(frame))
        # Leaving without a close frame is what a killed server does.
        connection.transport.abort()

    @property
    def cursors(self) -> list[int]:
        return [frame["after"] for frame in self.asked]


@asynccontextmanager
async def running(service: FakeService) -> AsyncGenerator[str]:
    async with serve(service.answer, "127.0.0.1", 0) as server:
        yield url_of(server)


def url_of(server: Server) -> str:
    host, port = next(iter(server.sockets)).getsockname()
    return f"http://{host}:{port}"


async def sequences(url: str, **options: Any) -> list[int | Reset]:
    options = {"until_final": True, "reconnect": QUICKLY, **options}
    return [
        each if isinstance(each, Reset) else each["sequence"] async for each in follow(url, RUN, **options)
    ]


FINAL = "workflow.completed"


@pytest.mark.parametrize(
    ("plays", "got", "cursors"),
    [
        pytest.param([[subscribed(0), event(1), event(2, FINAL)]], [1, 2], [0], id="one connection"),
        pytest.param(
            [[subscribed(0), event(1)], [subscribed(1), event(2, FINAL)]], [1, 2], [0, 1], id="resumed"
        ),
        pytest.param(
            [[subscribed(0), event(1), event(1), event(2), event(1), event(3, FINAL)]],
            [1, 2, 3],
            [0],
            id="duplicates dropped",
        ),
        pytest.param(
            [[subscribed(0), event(1), event(3)], [subscribed(1), event(2), event(3, FINAL)]],
            [1, 2, 3],
            [0, 1],
            id="a gap is asked for again",
        ),
        pytest.param(
            [[subscribed(0), event(1), event(2)], [subscribed(0, mode="reset"), event(1, FINAL)]],
            [1, 2, Reset(0), 1],
            [0, 2],
            id="reset",
        ),
        pytest.param(
            [
                [subscribed(0), event(1), {"type": "heartbeat", "run": str(RUN), "head": 2}],
                [subscribed(1), {"type": "heartbeat", "run": str(RUN), "head": 1}, event(2, FINAL)],
            ],
            [1, 2],
            [0, 1],
            id="a heartbeat tells of an event that did not come",
        ),
        pytest.param(
            [[subscribed(0), {"type": "heartbeat"}, {"type": "of a newer service"}, event(1, FINAL)]],
            [1],
            [0],
            id="other frames",
        ),
        pytest.param(
            [[subscribed(0, surprise=1), event(1, "of.a.newer.service"), event(2, FINAL)]],
            [1, 2],
            [0],
            id="newer types and members",
        ),
        pytest.param(
            [[subscribed(0, status="completed", head=2), event(1), event(2)]], [1, 2], [0], id="known end"
        ),
        pytest.param([[subscribed(0, status="failed", head=0)]], [], [0], id="over and nothing to give"),
        pytest.param(
            [(1012, "restart"), (4408, "slow"), (4429, "full"), [subscribed(0), event(1, FINAL)]],
            [1],
            [0, 0, 0, 0],
            id="closed for a while",
        ),
    ],
)
async def test_follow(plays: list[Any], got: list[int | Reset], cursors: list[int]) -> None:
    service = FakeService(*plays)
    async with running(service) as url:
        assert await sequences(url) == got
    assert service.cursors == cursors


async def test_the_token_is_sent_and_the_cursor_given() -> None:
    service = FakeService([subscribed(4), event(5, FINAL)])
    async with running(service) as url:
        assert await sequences(f"{url}/", after=4, token="secret") == [5]
    assert service.authorizations == ["Bearer secret"]
    assert service.asked == [{"type": "subscribe", "run": str(RUN), "after": 4}]


async def test_the_cursor_is_moved_on_and_its_epoch_asked_for() -> None:
    service = FakeService(
        [subscribed(4, epoch="old"), event(5)],
        [subscribed(0, mode="reset", epoch="new", snapshot="/there"), event(1, FINAL)],
    )
    cursor, seen = Cursor(4, "older"), []
    async with running(service) as url:
        async for each in follow(url, RUN, cursor=cursor, until_final=True, reconnect=QUICKLY):
            seen.append((each if isinstance(each, Reset) else each["sequence"], cursor.after, cursor.epoch))
    assert seen == [(5, 5, "old"), (Reset(0, "/there"), 0, "new"), (1, 1, "new")]
    assert [(frame["after"], frame["epoch"]) for frame in service.asked] == [(4, "older"), (5, "old")]


async def test_a_connection_on_which_nothing_comes_is_replaced() -> None:
    silent = asyncio.Event()

    async def answer(connection: ServerConnection) -> None:
        await connection.recv()
        if silent.is_set():
            await connection.send(json.dumps(subscribed(0)))
            await connection.send(json.dumps(event(1, FINAL)))
        silent.set()
        await connection.wait_closed()

    async with serve(answer, "127.0.0.1", 0) as server:
        impatient = Reconnect(first=0.001, longest=0.002, silence=0.05)
        assert await sequences(url_of(server), reconnect=impatient) == [1]


@pytest.mark.parametrize(
    ("play", "error"),
    [
        pytest.param((4401, "no token"), UnauthorizedError, id="4401"),
        pytest.param((4403, "wrong origin"), ForbiddenError, id="4403"),
        pytest.param((4404, "no such run"), NotFoundError, id="4404"),
        pytest.param(
            [{"type": "error", "code": "not-found", "detail": "no such run"}], NotFoundError, id="run"
        ),
        pytest.param([{"type": "error", "code": "x", "detail": "y"}], UnavailableError, id="other error"),
        pytest.param([["not", "a", "frame"]], UnavailableError, id="not a frame"),
        pytest.param([{"event": "agent.progress"}], UnavailableError, id="not an event"),
    ],
)
async def test_refusals_are_errors(play: Any, error: type[PhaseRunnerError]) -> None:
    async with running(FakeService(play)) as url:
        with pytest.raises(error):
            await sequences(url)


@pytest.mark.parametrize(
    ("status", "error"), [(401, UnauthorizedError), (403, ForbiddenError), (404, NotFoundError)]
)
async def test_refused_handshakes_are_errors(status: int, error: type[PhaseRunnerError]) -> None:
    def refuse(_connection: ServerConnection, _request: object) -> Response:
        return Response(status, "refused", Headers({"Content-Length": "0"}))

    async with serve(FakeService().answer, "127.0.0.1", 0, process_request=refuse) as server:
        with pytest.raises(error, match=str(status)):
            await sequences(url_of(server))


async def test_a_service_that_is_not_there_is_given_up() -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(UnavailableError, match=url):
            await sequences(url, reconnect=AT_ONCE)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://host", "http://", "ws://host"])
async def test_not_a_url(url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await sequences(url)
    assert caught.value.field == "base_url"


def test_pauses_grow_to_their_limit() -> None:
    pauses = Reconnect(first=1.0, longest=4.0).pauses()
    ceilings = [1.0, 2.0, 4.0, 4.0, 4.0]
    for ceiling in ceilings:
        assert ceiling / 2 <= next(pauses) <= ceiling
