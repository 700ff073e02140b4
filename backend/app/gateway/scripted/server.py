"""A server that replaces model providers: it supports all four dialects and plays a script.

`phaserunner agents check`, `phaserunner scripted-model` and the tests use it. No model is asked, and its
answers say so.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from starlette.types import Receive, Scope, Send

from app.agents.gateway_port import BASE_PATHS, Dialect
from app.gateway.exchange import ClientGoneError, GatewayExchange
from app.gateway.refusals import error_body
from app.gateway.scripted.answers.answer import Scripted, Turnover
from app.gateway.scripted.answers.writing import stream, whole_answer
from app.gateway.scripted.requests import ScriptedRequest, read_request
from app.gateway.scripted.script import CallTool, Say, Turn, speak
from app.gateway.serving import ABORT, serve_on_loopback
from app.gateway.upstreams import KEY_VARIABLES, PRICE_IDS, PROVIDERS, Upstream

SCRIPTED_MODEL = "scripted-model"

_ONLY_WORDS = (Say(),)

Play = Callable[[ScriptedRequest], Turn]
"""Returns the next turn of a conversation."""

_MAX_BODY_BYTES = 100_000_000


class Mode(StrEnum):
    """The server's behaviour.

    `OK` answers. `UNAUTHORIZED` answers 401, `RATE_LIMITED` 429 with the time of the reset, `FAILING` 500.
    `CUT` breaks off in the middle of an answer. `HANG` never answers. `SLOW` pauses between the pieces of a
    stream. `LOOP` calls the script's first tool again and again.
    """

    OK = "ok"
    UNAUTHORIZED = "401"
    RATE_LIMITED = "429"
    FAILING = "500"
    CUT = "cut"
    HANG = "hang"
    SLOW = "slow"
    LOOP = "loop"


_REFUSALS: Mapping[Mode, tuple[int, str]] = {
    Mode.UNAUTHORIZED: (401, "scripted: the key is not valid"),
    Mode.RATE_LIMITED: (429, "scripted: the rate limit is reached"),
    Mode.FAILING: (500, "scripted: the server failed"),
}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request that arrived.

    Attributes:
        method: HTTP method.
        path: with any prefix before the known part.
        query: without the question mark.
        headers: with names in lower case.
        body: an empty object if there was none.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class ScriptedModelServer:
    """Serves on a port of 127.0.0.1 while its block runs.

    Args:
        script: the turns of every conversation, of which the last one repeats, or a function that returns
            turns.
            An agent that has spoken n times in a conversation gets turn n, so conversations can run in
                parallel.
        usage: tokens that each answer reports.
        reset_seconds: the `Retry-After` of `RATE_LIMITED`.
        pause_seconds: before each piece of a stream in mode `SLOW`.
        port: to listen on; 0 is any free one.
        keeps_requests: True collects all requests in `requests`.
    """

    def __init__(
        self,
        script: Sequence[Turn] | Play = _ONLY_WORDS,
        *,
        usage: Turnover | None = None,
        reset_seconds: float = 1.0,
        pause_seconds: float = 0.05,
        port: int = 0,
        keeps_requests: bool = True,
    ) -> None:
        self.script: tuple[Turn, ...] = () if callable(script) else tuple(script)
        self._play = script if callable(script) else None
        self._port = port
        self._keeps_requests = keeps_requests
        self._count = 0
        self.usage = usage or Turnover()
        self.requests: list[SeenRequest] = []
        self.closed_early = asyncio.Event()
        self.reset_seconds = reset_seconds
        self._pause_seconds = pause_seconds
        self._mode = Mode.OK
        self._times: int | None = None
        self._open = AsyncExitStack()
        self._url = ""

    async def __aenter__(self) -> Self:
        """Start serving.

        Raises:
            OSError: the port is taken.
        """
        address = await self._open.enter_async_context(serve_on_loopback(self._serve, self._port))
        self._url = address.url or ""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End all connections."""
        await self._open.aclose()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return self._url

    def upstreams(self, key: str | None = None, prefix: str = "") -> Mapping[Dialect, Upstream]:
        """Return this server as the provider of every dialect; `prefix` is a path before the known ones."""
        return {
            each: Upstream(
                each,
                PROVIDERS[each],
                f"{self._url}{prefix}{BASE_PATHS[each]}",
                key,
                KEY_VARIABLES[each],
                PRICE_IDS[each],
            )
            for each in Dialect
        }

    def behave(self, mode: Mode, times: int | None = None) -> None:
        """Change the mode: for the next `times` requests, or for all if that is None."""
        self._mode, self._times = mode, times

    def _next_mode(self) -> Mode:
        mode = self._mode
        if self._times is not None:
            self._times -= 1
            if self._times <= 0:
                self._mode, self._times = Mode.OK, None
        return mode

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = GatewayExchange(scope, receive, send)
        try:
            content = await exchange.read_body(_MAX_BODY_BYTES)
        except ClientGoneError:
            return
        body: dict[str, Any] = json.loads(content) if content else {}
        self._count += 1
        if self._keeps_requests:
            seen = SeenRequest(exchange.method, exchange.path, exchange.query, dict(exchange.headers), body)
            self.requests.append(seen)
        request = read_request(exchange.path, exchange.query, body)
        if request is None:
            await self._other(exchange)
            return
        mode, number = self._next_mode(), self._count
        if mode in _REFUSALS:
            await self._refuse(exchange, request.dialect, mode)
            return
        self.closed_early.clear()
        await exchange.while_connected(self._answer(exchange, request, mode, number, scope))

    async def _refuse(self, exchange: GatewayExchange, dialect: Dialect, mode: Mode) -> None:
        status, words = _REFUSALS[mode]
        pause = {"retry-after": f"{self.reset_seconds:g}"} if mode is Mode.RATE_LIMITED else {}
        await exchange.answer(status, error_body(dialect, status, words), pause)

    async def _other(self, exchange: GatewayExchange) -> None:
        if exchange.path.endswith(("/count_tokens", ":countTokens")):
            name = "totalTokens" if exchange.path.endswith("s:countTokens") else "input_tokens"
            await exchange.answer(200, json.dumps({name: self.usage.input}).encode())
        elif exchange.path.endswith("/models"):
            listing = {
                "object": "list",
                "data": [{"id": SCRIPTED_MODEL, "object": "model"}],
                "models": [{"name": f"models/{SCRIPTED_MODEL}"}],
            }
            await exchange.answer(200, json.dumps(listing).encode())
        else:
            await exchange.answer(404, b'{"error": {"message": "scripted: there is nothing here"}}')

    async def _answer(
        self, exchange: GatewayExchange, request: ScriptedRequest, mode: Mode, number: int, scope: Scope
    ) -> None:
        try:
            if mode is Mode.HANG:
                await asyncio.Event().wait()
            spoken = speak(self._turn(request, mode), request.tools)
            answer = Scripted(request, spoken, self.usage, number)
            headers = {"x-scripted": "true"}
            if not request.streams:
                body = json.dumps(whole_answer(answer)).encode()
                pieces = [body[: len(body) // 2], body[len(body) // 2 :]]
                headers |= {"content-type": "application/json", "content-length": str(len(body))}
            else:
                pieces = stream(answer)
                kind = "text/event-stream" if request.as_events else "application/json"
                headers |= {"content-type": f"{kind}; charset=utf-8"}
            await self._send(exchange, headers, pieces, mode, scope)
        except asyncio.CancelledError:
            self.closed_early.set()
            raise

    async def _send(
        self,
        exchange: GatewayExchange,
        headers: Mapping[str, str],
        pieces: Sequence[bytes],
        mode: Mode,
        scope: Scope,
    ) -> None:
        await exchange.begin(200, headers)
        shown = pieces[: (len(pieces) + 1) // 2] if mode is Mode.CUT else pieces
        for piece in shown:
            if mode is Mode.SLOW:
                await asyncio.sleep(self._pause_seconds)
            await exchange.piece(piece)
        if mode is Mode.CUT:
            scope["extensions"][ABORT]()
            await asyncio.Event().wait()
        await exchange.end()

    def _turn(self, request: ScriptedRequest, mode: Mode) -> Turn:
        if self._play is not None:
            return self._play(request)
        if mode is Mode.LOOP:
            return next((each for each in self.script if isinstance(each, CallTool)), self.script[0])
        return self.script[min(request.turns, len(self.script) - 1)]
