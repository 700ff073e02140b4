"""What is compressed on the wire, and what passes through as it is."""

import gzip
from collections.abc import AsyncGenerator, Mapping

import anyio
import httpx
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.edge.compression import SMALLEST, Compression, accepts

pytestmark = pytest.mark.anyio

LONG = {"text": "said again and again " * SMALLEST}
GZIP = {"Accept-Encoding": "br;q=0.1, gzip"}


@pytest.mark.parametrize(
    ("header", "coding", "expected"),
    [
        ("gzip, br", "br", True),
        ("GZIP", "gzip", True),
        ("gzip;q=0", "gzip", False),
        ("gzip; q=0.5", "gzip", True),
        ("gzip;q=high", "gzip", False),
        ("*", "br", True),
        ("*;q=0", "br", False),
        ("br;q=0, *", "br", False),
        ("", "gzip", False),
        ("gzipped", "gzip", False),
        (",;,q=1,;;", "gzip", False),
    ],
)
def test_what_a_client_accepts(header: str, coding: str, expected: bool) -> None:
    assert accepts(header, coding) is expected


async def raw_of(response: Response, headers: Mapping[str, str]) -> tuple[httpx.Headers, bytes]:
    """Headers and the bytes of the wire."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await response(scope, receive, send)

    transport = httpx.ASGITransport(Compression(app))
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://here") as client,
        client.stream("GET", "/", headers=headers) as answer,
    ):
        return answer.headers, b"".join([part async for part in answer.aiter_raw()])


@pytest.mark.parametrize("size", [1, 200])
async def test_texts_are_compressed_for_clients_that_accept_it(size: int) -> None:
    whole = JSONResponse([LONG] * size)
    headers, body = await raw_of(whole, GZIP)
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert int(headers["content-length"]) == len(body) < len(whole.body) / 10
    assert gzip.decompress(body) == whole.body


async def test_other_clients_get_texts_as_they_are() -> None:
    headers, body = await raw_of(JSONResponse(LONG), {"Accept-Encoding": "identity"})
    assert body == JSONResponse(LONG).body
    assert headers["vary"] == "Accept-Encoding", "a cache must know that others get something else"
    assert "content-encoding" not in headers


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(JSONResponse({}), id="short"),
        pytest.param(Response(b"PACK" * SMALLEST, media_type="application/x-git-bundle"), id="no text"),
        pytest.param(
            Response(b"x" * SMALLEST, media_type="text/plain", headers={"Content-Encoding": "br"}),
            id="compressed",
        ),
        pytest.param(Response(status_code=304), id="without a body"),
    ],
)
async def test_what_gains_nothing_passes_through(response: Response) -> None:
    headers, body = await raw_of(response, GZIP)
    assert headers.get("content-encoding") == response.headers.get("content-encoding")
    assert body == response.body


async def test_a_stream_arrives_part_by_part() -> None:
    async def parts() -> AsyncGenerator[str]:
        for _ in range(3):
            yield "data: event\n\n" * SMALLEST

    for kind in ("text/event-stream", "text/plain"):
        sent: list[int] = []

        async def send(message: object, sent: list[int] = sent) -> None:
            assert isinstance(message, dict)
            if body := message.get("body"):
                sent.append(len(body))

        async def receive() -> dict[str, str]:
            await anyio.sleep_forever()
            raise AssertionError

        stream = StreamingResponse(parts(), media_type=kind)
        scope = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", b"gzip")]}
        await Compression(stream)(scope, receive, send)
        assert sent == [13 * SMALLEST] * 3


async def test_a_tag_names_the_bytes_that_are_sent() -> None:
    def tagged(tag: str) -> Response:
        return PlainTextResponse("x" * SMALLEST, headers={"ETag": tag})

    plain, _ = await raw_of(tagged('"a"'), {"Accept-Encoding": "identity"})
    small, _ = await raw_of(tagged('"a"'), GZIP)
    assert (plain["etag"], small["etag"]) == ('"a"', '"a-gzip"')


async def test_sockets_pass_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])
        await send({"type": "websocket.accept"})

    async def send(message: object) -> None:
        seen.append(str(message))

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    await Compression(app)({"type": "websocket", "headers": []}, receive, send)
    assert seen == ["websocket", "{'type': 'websocket.accept'}"]
