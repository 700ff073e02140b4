"""Calls of a forge's REST interface on a real socket."""

import threading
import tracemalloc
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from typing_extensions import override

from app.forges.github import GITHUB
from app.forges.port import ForgeError
from app.forges.rest import RestApi
from tests.git_http import TOKEN, fixed_token

pytestmark = pytest.mark.anyio

MEGABYTE = 1_000_000
LOG_MEGABYTES = 64


@contextmanager
def logs() -> Generator[tuple[str, dict[str, str | None]]]:
    """Serve a long log and redirects; gives the address, and the token that came with each path."""
    tokens: dict[str, str | None] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tokens[self.path] = self.headers["Authorization"]
            if self.path != "/store":
                status = 302 if self.path.startswith("/logs") else 404
                self.send_response(status)
                self.send_header("Location", "/store" if self.path == "/logs" else "/logs")
                self.end_headers()
                return
            self.send_response(200)
            self.end_headers()
            part = b"x" * MEGABYTE
            for _ in range(LOG_MEGABYTES):
                self.wfile.write(part)
            self.wfile.write("…the end".encode())

        @override
        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", tokens
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_of_a_long_text_only_the_end_is_kept() -> None:
    with logs() as (url, tokens):
        api = RestApi(GITHUB, httpx.AsyncClient, url, fixed_token(TOKEN))
        tracemalloc.start()
        try:
            found = await api.text("/logs", 1_000)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert found.endswith("x…the end")
        assert len(found.encode()) == 1_000
        assert peak < LOG_MEGABYTES * MEGABYTE / 2
        assert tokens == {"/logs": f"Bearer {TOKEN}", "/store": None}


async def test_a_text_that_cannot_be_read() -> None:
    with logs() as (url, _):
        api = RestApi(GITHUB, httpx.AsyncClient, url, fixed_token(TOKEN))
        with pytest.raises(ForgeError, match="GET /gone gave 404"):
            await api.text("/gone", 1_000)
        with pytest.raises(ForgeError, match="GET /logs/1 leads from one redirect to another"):
            await api.text("/logs/1", 1_000)
    with pytest.raises(ForgeError, match="cannot be reached") as away:
        await api.text("/logs", 1_000)
    assert away.value.is_away
