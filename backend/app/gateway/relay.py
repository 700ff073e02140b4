"""The ASGI application behind one endpoint: lets requests pass that the grant allows."""

import asyncio
import hmac
import logging
from collections.abc import Iterator

from starlette.types import Receive, Scope, Send

from app.agents.gateway_port import GatewayFailure
from app.agents.port import FailureKind
from app.gateway.calls import ModelCalls
from app.gateway.exchange import BodyTooLargeError, ClientGoneError, GatewayExchange
from app.gateway.refusals import error_body
from app.gateway.requests import ModelCall, UnreadableRequestError, allows, read_call
from app.gateway.routes import Operation, Route, find_route, query_keys

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 64_000_000
_LARGE_BODY = 262_144


class _RefusedError(Exception):
    """A request is refused. The message is for the client."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Relay:
    """Serves the requests of one agent.

    Args:
        calls: carries out allowed requests.
        token: the token that the client must send in place of a key.
    """

    def __init__(self, calls: ModelCalls, token: str) -> None:
        self._calls = calls
        self._grant = calls.grant
        self._account = calls.account
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        exchange = GatewayExchange(scope, receive, send)
        try:
            await self._serve(exchange)
        except _RefusedError as refusal:
            await self._refuse(exchange, refusal.status, refusal.message)
        except ClientGoneError:
            pass  # the client is gone
        except Exception:
            logger.exception("the model gateway failed")
            self._account.failed(GatewayFailure(FailureKind.CRASH, "the model gateway failed"))
            if not exchange.begun:
                await self._refuse(exchange, 500, "the model gateway failed")

    async def _refuse(self, exchange: GatewayExchange, status: int, message: str) -> None:
        await exchange.answer(status, error_body(self._grant.dialect, status, message))

    async def _serve(self, exchange: GatewayExchange) -> None:
        route = find_route(self._grant.dialect, exchange.method, exchange.path)
        if route is not None and route.operation is Operation.PROBE:
            await exchange.answer(200, b"{}")
            return
        if not any(hmac.compare_digest(each.encode(), self._token) for each in _tokens(exchange)):
            raise _RefusedError(401, "the token is not valid for this model gateway")
        self._account.touch()
        if route is None:
            message = (
                f"{exchange.method} {exchange.path} is not open to agents that speak {self._grant.dialect}"
            )
            self._account.refused(message)
            raise _RefusedError(404, message)
        body = await self._body(exchange)
        if route.operation is Operation.MODELS:
            await exchange.while_connected(self._calls.list_models(exchange, route))
            return
        call = await self._read(route, body)
        if route.operation is Operation.COUNT:
            await exchange.while_connected(self._calls.count(exchange, route, call))
            return
        await self._check_limits()
        await exchange.while_connected(self._calls.generate(exchange, route, call))

    async def _body(self, exchange: GatewayExchange) -> bytes:
        if exchange.headers.get("content-encoding", "identity") != "identity":
            raise _RefusedError(415, "content-encoding: send the body as it is")
        try:
            return await exchange.read_body(MAX_BODY_BYTES)
        except BodyTooLargeError:
            raise _RefusedError(413, f"the request is larger than {MAX_BODY_BYTES} bytes") from None

    async def _read(self, route: Route, body: bytes) -> ModelCall:
        try:
            if len(body) > _LARGE_BODY:
                call = await asyncio.to_thread(read_call, self._grant.dialect, route, body)
            else:
                call = read_call(self._grant.dialect, route, body)
        except UnreadableRequestError as error:
            raise _RefusedError(400, str(error)) from error
        if not allows(self._grant.models, call.model):
            allowed = ", ".join(self._grant.models) or "none"
            message = f"the model {call.model[:200]!r} is not allowed here; allowed: {allowed}"
            self._account.refused(message)
            raise _RefusedError(403, message)
        return call

    async def _check_limits(self) -> None:
        spent = await self._calls.parts.budgets.spent(self._grant.labels.run_id)
        if spent is not None:
            self._account.failed(GatewayFailure(FailureKind.BUDGET, spent))
            raise _RefusedError(403, spent)
        reached = self._account.reached()
        if reached is not None:
            self._account.failed(GatewayFailure(FailureKind.LIMIT, reached))
            raise _RefusedError(403, reached)


def _tokens(exchange: GatewayExchange) -> Iterator[str]:
    scheme, _, value = exchange.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        yield value.strip()
    for name in ("x-api-key", "x-goog-api-key"):
        if name in exchange.headers:
            yield exchange.headers[name]
    yield from query_keys(exchange.query)
