"""Carries out allowed requests: asks the provider, relays the answer, and measures it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import httpx

from app.agents.gateway_port import Dialect, GatewayGrant
from app.core.telemetry import continued_trace
from app.gateway.account import EndpointUsage
from app.gateway.asking import Asker, ProviderReply
from app.gateway.exchange import GatewayExchange
from app.gateway.ledger import Budgets, Ledger
from app.gateway.prices import Prices, cost_of
from app.gateway.provider_faults import Fault, read_error_in_answer, unreachable
from app.gateway.refusals import broken_stream, error_body
from app.gateway.relayed_request import RelayedRequest
from app.gateway.requests import ModelCall, allowed_models
from app.gateway.routes import Route, kept_query
from app.gateway.spans import describe, open_span
from app.gateway.streams import ListMeter, Meter, StreamMeter, meter_for
from app.gateway.upstreams import ANTHROPIC_VERSION

_REQUEST_HEADERS = frozenset(
    {
        "accept",
        "content-type",
        "user-agent",
        "anthropic-version",
        "anthropic-beta",
        "openai-beta",
        "x-goog-api-client",
        "idempotency-key",
    }
)
"""Headers that are passed on to the provider. Others could name another account or another receiver."""

_RESPONSE_HEADERS = ("content-type", "cache-control", "request-id", "x-request-id")


@dataclass(frozen=True, slots=True)
class RelayParts:
    """The parts that all relays of one gateway share.

    Attributes:
        prices: the cost of requests.
        ledger: stores each request.
        budgets: checked before each request.
        clock: returns monotonic seconds.
        now: returns the time.
    """

    prices: Prices
    ledger: Ledger
    budgets: Budgets
    clock: Callable[[], float]
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """Carries out the requests of one agent.

    Attributes:
        grant: what the agent may ask.
        asker: sends requests to the provider.
        account: counts the consumption.
        parts: the parts that all relays share.
        traceparent: the parent span of the requests; None makes each request a root span.
    """

    grant: GatewayGrant
    asker: Asker
    account: EndpointUsage
    parts: RelayParts
    traceparent: str | None

    async def list_models(self, exchange: GatewayExchange, route: Route) -> None:
        """Answer with those of the provider's models that the agent may use."""
        answer = await self._ask(exchange, route, None, whole=True)
        if isinstance(answer, Fault):
            await self._tell(exchange, answer)
            return
        body = allowed_models(self.grant.dialect, answer.body or b"", self.grant.models)
        await exchange.answer(200, body, _kept(answer.response))

    async def count(self, exchange: GatewayExchange, route: Route, call: ModelCall) -> None:
        """Answer with the number of tokens in a request, which costs nothing."""
        answer = await self._ask(exchange, route, call.body, whole=True)
        if isinstance(answer, Fault):
            await self._tell(exchange, answer)
        else:
            await exchange.answer(200, answer.body or b"", _kept(answer.response))

    async def generate(self, exchange: GatewayExchange, route: Route, call: ModelCall) -> None:
        """Relay a model's answer."""
        relayed = RelayedRequest(self.account.begin(), call, self.parts.now(), self.parts.clock())
        labels, provider = self.grant.labels, self.asker.upstream.provider
        with continued_trace(self.traceparent), open_span(call.model, labels, provider) as span:
            try:
                answer = await self._ask(exchange, route, call.body, whole=not call.streams)
                if isinstance(answer, Fault):
                    self._fail(relayed, answer)
                    await self._tell(exchange, answer)
                elif answer.body is None:
                    await self._stream(exchange, answer.response, relayed)
                else:
                    await self._whole(exchange, answer, relayed)
            finally:
                line = relayed.line(labels, provider, self.parts.clock())
                self.parts.ledger.record(line)
                describe(span, line)

    async def _whole(self, exchange: GatewayExchange, answer: ProviderReply, relayed: RelayedRequest) -> None:
        meter = meter_for(self.grant.dialect, answer.response.headers.get("content-type", ""))
        meter.feed(answer.body or b"")
        meter.end()
        self._note(relayed, meter)
        if relayed.status != 200:
            self._fail(relayed, self._broken(meter))
        await exchange.answer(200, answer.body or b"", _kept(answer.response))

    async def _stream(
        self, exchange: GatewayExchange, response: httpx.Response, relayed: RelayedRequest
    ) -> None:
        meter = meter_for(self.grant.dialect, response.headers.get("content-type", ""))
        fault: Fault | None = None
        try:
            await exchange.begin(200, _kept(response))
            async for piece in response.aiter_bytes():
                meter.feed(piece)
                # Recorded before the client gets it, so that the figures are complete when the client ends.
                self._note(relayed, meter)
                await exchange.piece(piece)
            meter.end()
            self._note(relayed, meter)
        except httpx.HTTPError as error:
            fault = self.asker.broken(error)
        finally:
            await response.aclose()
        if relayed.status != 200:
            fault = fault or self._broken(meter)
            self._fail(relayed, fault)
            if isinstance(meter, StreamMeter) and not meter.error:
                await exchange.piece(broken_stream(self.grant.dialect, fault.failure.message))
        await exchange.end()

    def _note(self, relayed: RelayedRequest, meter: Meter) -> None:
        self.account.touch()
        if meter.consumption is not relayed.consumption:
            relayed.consumption = meter.consumption
            relayed.cost = cost_of(
                self.parts.prices, self.asker.upstream, relayed.call.model, relayed.consumption
            )
            self.account.charge(relayed.number, relayed.consumption.tokens, relayed.cost)
        if meter.finished and not meter.error and relayed.status != 200:
            relayed.status = 200
            self.account.succeeded()

    def _fail(self, relayed: RelayedRequest, fault: Fault) -> None:
        relayed.status = fault.status
        self.account.failed(fault.failure)

    def _broken(self, meter: Meter) -> Fault:
        if meter.error:
            return read_error_in_answer(self.asker.upstream, meter.error, self.parts.now())
        reason = "the answer cannot be read" if isinstance(meter, ListMeter) else "the answer broke off"
        return unreachable(self.asker.upstream, reason, retryable=False)

    async def _ask(
        self, exchange: GatewayExchange, route: Route, body: bytes | None, *, whole: bool
    ) -> ProviderReply | Fault:
        headers = {name: value for name, value in exchange.headers.items() if _goes_on(name)}
        if self.grant.dialect is Dialect.ANTHROPIC:
            headers.setdefault("anthropic-version", ANTHROPIC_VERSION)
        path = route.path + kept_query(exchange.query)
        answer = await self.asker.ask(exchange.method, path, headers, body, whole=whole)
        self.account.touch()
        return answer

    async def _tell(self, exchange: GatewayExchange, fault: Fault) -> None:
        words = error_body(self.grant.dialect, fault.status, fault.failure.message)
        await exchange.answer(fault.status, fault.body if fault.body is not None else words)


def _goes_on(header: str) -> bool:
    return header in _REQUEST_HEADERS or header.startswith("x-stainless-")


def _kept(response: httpx.Response) -> Mapping[str, str]:
    return {name: response.headers[name] for name in _RESPONSE_HEADERS if name in response.headers}
