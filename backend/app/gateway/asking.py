"""Sends a request to a provider, retries it within limits, and returns the answer or the fault."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import httpx

from app.agents.gateway_port import GatewayFailure
from app.agents.port import FailureKind
from app.gateway.provider_faults import Fault, read_fault, unreachable
from app.gateway.upstreams import Upstream

MAX_ANSWER_BYTES = 64_000_000
_MAX_ERROR_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class RetryRules:
    """When a refused request is sent again. A request with an answer that has begun is never repeated.

    Attributes:
        tries: maximum for one request, the first one included.
        first_pause: seconds; the pause doubles with each try if the provider does not name one.
        longest_pause: seconds; if the provider asks for more, the fault is returned at once.
    """

    tries: int = 3
    first_pause: float = 0.5
    longest_pause: float = 30.0

    def pause(self, failed_tries: int, retry_at: datetime | None, now: datetime) -> float | None:
        """Return the seconds before the next try, or None if there is no further try."""
        if failed_tries >= self.tries:
            return None
        wanted = (retry_at - now).total_seconds() if retry_at else 0.0
        pause = max(wanted, self.first_pause * 2 ** (failed_tries - 1))
        return pause if pause <= self.longest_pause else None


@dataclass(frozen=True, slots=True)
class ProviderReply:
    """A provider's answer.

    Attributes:
        response: head of the answer. It is open while `body` is None, and must then be closed.
        body: the whole answer, if the caller asked for that.
    """

    response: httpx.Response
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """Sends requests to one provider.

    Attributes:
        client: sends the requests.
        upstream: the provider.
        rules: when a request is sent again.
        now: returns the time.
    """

    client: httpx.AsyncClient
    upstream: Upstream
    rules: RetryRules
    now: Callable[[], datetime]

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, *, whole: bool
    ) -> ProviderReply | Fault:
        """Send a request, with retries while they may help.

        Args:
            method: HTTP method.
            path: below the provider's base URL, with its query.
            headers: without the key, which is added here.
            body: None for requests without one.
            whole: True reads the answer to its end before returning it.
        """
        try:
            request = self.client.build_request(
                method,
                self.upstream.base_url + path,
                headers={**headers, "accept-encoding": "identity", **self.upstream.headers()},
                content=body,
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            return self._unusable(str(error))
        failed_tries = 0
        while True:
            answer = await self._once(request, whole=whole)
            failed_tries += 1
            if isinstance(answer, ProviderReply) or not answer.retryable:
                return answer
            pause = self.rules.pause(failed_tries, answer.failure.retry_at, self.now())
            if pause is None:
                return answer
            await asyncio.sleep(pause)

    async def _once(self, request: httpx.Request, *, whole: bool) -> ProviderReply | Fault:
        try:
            response = await self.client.send(request, stream=True)
            if response.is_success and not whole:
                return ProviderReply(response)
            try:
                return await self._read(response)
            finally:
                await response.aclose()
        except httpx.UnsupportedProtocol as error:
            return self._unusable(str(error))
        except httpx.HTTPError as error:
            return self.broken(error)

    async def _read(self, response: httpx.Response) -> ProviderReply | Fault:
        limit = MAX_ANSWER_BYTES if response.is_success else _MAX_ERROR_BYTES
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > limit:
                break
        if not response.is_success:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return read_fault(self.upstream, response.status_code, headers, bytes(body[:limit]), self.now())
        if len(body) > limit:
            return unreachable(self.upstream, f"its answer is larger than {limit} bytes", retryable=False)
        return ProviderReply(response, bytes(body))

    def broken(self, error: httpx.HTTPError) -> Fault:
        """Return the fault of a connection that failed or timed out."""
        match error:
            case httpx.ConnectTimeout() | httpx.ConnectError():
                return unreachable(self.upstream, "it cannot be reached", retryable=True)
            case httpx.TimeoutException():
                # The provider may still be working on the request, and another one would double that work.
                return unreachable(self.upstream, "it did not answer in time", retryable=False)
            case _:
                return unreachable(self.upstream, "the answer broke off", retryable=True)

    def _unusable(self, reason: str) -> Fault:
        message = f"{self.upstream.provider}: the base URL cannot be used: {reason}"
        return Fault(GatewayFailure(FailureKind.CONFIGURATION, message), 502)
