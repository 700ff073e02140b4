"""Heads that are too large or too slow, and bodies that stall, are refused before the application."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.api.edge.http_bounds import BoundedHttpProtocol
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Small(BoundedHttpProtocol):
    """Has limits that a test reaches."""

    head_bytes = 2_000
    head_fields = 10


class Impatient(BoundedHttpProtocol):
    """Waits for nothing for long."""

    head_seconds = 0.2
    body_seconds = 0.2


async def _length(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        body = await Request(scope, receive).body()
        await PlainTextResponse(f"{len(body)} bytes")(scope, receive, send)


@pytest.fixture
async def serve() -> AsyncIterator:
    servers: list[tuple[uvicorn.Server, asyncio.Task[None]]] = []

    async def start(protocol: type[BoundedHttpProtocol]) -> Connection:
        config = uvicorn.Config(_length, port=0, http=protocol, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        servers.append((server, asyncio.create_task(server.serve())))
        async with asyncio.timeout(PATIENCE):
            while not server.started:  # noqa: ASYNC110 - the server announces it nowhere else
                await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        return await asyncio.open_connection("127.0.0.1", port)

    yield start
    for server, task in servers:
        server.should_exit = True
        await task


async def answer(connection: Connection, *parts: str) -> str:
    """Send the parts and give all that comes back until the connection closes."""
    reader, writer = connection
    for part in parts:
        writer.write(part.encode())
        await writer.drain()
    async with asyncio.timeout(PATIENCE):
        try:
            said = await reader.read()
        except ConnectionResetError:
            said = b""
    writer.close()
    return said.decode()


def status_and_code(said: str) -> tuple[str, str]:
    head, _, body = said.partition("\r\n\r\n")
    assert "application/problem+json" in head
    assert "connection: close" in head
    return head.split()[1], json.loads(body)["type"].rpartition(":")[2]


START = "GET / HTTP/1.1\r\nhost: a\r\n"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(START + f"x: {'y' * 3_000}\r\n\r\n", id="one long header"),
        pytest.param(START + f"x: {'y' * 3_000}", id="one that does not end"),
        pytest.param(f"GET /{'y' * 3_000} HTTP/1.1\r\nhost: a\r\n\r\n", id="a long address"),
        pytest.param(START + "x: y\r\n" * 20 + "\r\n", id="many headers"),
        pytest.param(
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n" + "x: y\r\n" * 20 + "\r\nabc", id="body"
        ),
    ],
)
async def test_a_head_that_is_too_large_is_refused(serve, head: str) -> None:
    assert status_and_code(await answer(await serve(Small), head)) == ("431", "headers_too_large")


async def test_a_large_body_is_no_head(serve) -> None:
    head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 50000\r\n\r\n"
    assert (await answer(await serve(Small), head + "x" * 50_000)).endswith("50000 bytes")


async def test_requests_on_one_connection_are_counted_apart(serve) -> None:
    first = START + f"x: {'y' * 1_500}\r\n\r\n"
    last = START + f"connection: close\r\nx: {'y' * 1_500}\r\n\r\n"
    said = await answer(await serve(Small), first, last)
    assert said.count("200 OK") == 2


async def test_a_head_that_does_not_come_is_refused(serve) -> None:
    assert status_and_code(await answer(await serve(Impatient), START)) == ("408", "request_timeout")


async def test_a_connection_that_says_nothing_is_closed(serve) -> None:
    assert await answer(await serve(Impatient)) == ""


async def test_a_body_that_stalls_ends_the_connection(serve) -> None:
    head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n"
    assert await answer(await serve(Impatient), head, "abc") == ""
