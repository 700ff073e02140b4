"""Serves an application over HTTP on a unix socket or a loopback port, inside the running process."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

_CLOSE_SECONDS = 5.0
_IDLE_SECONDS = 300

_TOO_LONG = "path too long"
"""Python's message for a socket path that is too long. The limit depends on the system."""

ABORT = "transport.abort"
"""Name of the function in a request's extensions that aborts its connection."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an application: one of the two is set."""

    socket: Path | None = None
    url: str | None = None


class _Protocol(H11Protocol):
    """Writes no log of requests, because a query may hold a token."""

    def __init__(self, config: uvicorn.Config, state: ServerState) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self.access_log = False
        self._served, self.app = self.app, self._serve

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["extensions"] = {ABORT: self.transport.abort}
        await self._served(scope, receive, send)


class _Connections:
    """Creates the protocols of one server, and ends them."""

    def __init__(self, app: ASGIApp) -> None:
        # uvicorn's own server would handle this process's signals and end with a delay.
        self._config = uvicorn.Config(
            app,
            interface="asgi3",
            lifespan="off",
            ws="none",
            log_config=None,
            timeout_keep_alive=_IDLE_SECONDS,
        )
        self._state = ServerState()

    def protocol(self) -> _Protocol:
        return _Protocol(self._config, self._state)

    async def end(self) -> None:
        for each in list(self._state.connections):
            each.transport.abort()
        # The applications notice that their clients are gone, and end by themselves.
        tasks = set(self._state.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()


@asynccontextmanager
async def serve_on_socket(app: ASGIApp, owner: int | None = None) -> AsyncGenerator[Address]:
    """Serve on a unix socket while the block runs. Open connections end with it.

    Args:
        app: the ASGI application.
        owner: number of the user that may connect; None is this process's user.

    Raises:
        OSError: the socket cannot be created.
    """
    connections = _Connections(app)
    with tempfile.TemporaryDirectory(prefix="gateway-") as directory:
        path = Path(directory) / "socket"
        try:
            server = await asyncio.get_running_loop().create_unix_server(connections.protocol, path)
        except OSError as error:
            if _TOO_LONG not in str(error):
                raise
            shorter = f"set a shorter TMPDIR than {tempfile.gettempdir()}"
            raise OSError(f"the path of its socket is too long: {shorter}") from error
        try:
            path.chmod(0o600)
            if owner is not None:
                os.chown(directory, owner, owner)
                os.chown(path, owner, owner)
            yield Address(socket=path)
        finally:
            server.close()
            await connections.end()


@asynccontextmanager
async def serve_on_loopback(app: ASGIApp, port: int = 0) -> AsyncGenerator[Address]:
    """Serve on a port of 127.0.0.1 while the block runs. Open connections end with it.

    Args:
        app: the ASGI application.
        port: 0 is any free one.

    Raises:
        OSError: the port is taken, or none is free.
    """
    connections = _Connections(app)
    server = await asyncio.get_running_loop().create_server(connections.protocol, "127.0.0.1", port)
    port = server.sockets[0].getsockname()[1]
    try:
        yield Address(url=f"http://127.0.0.1:{port}")
    finally:
        server.close()
        await connections.end()
