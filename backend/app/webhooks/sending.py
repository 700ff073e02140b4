"""Sends one signed message; the address that was checked is the one that is connected to."""

import asyncio
import socket
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import httpx

from app.core.addresses import is_public
from app.webhooks.signing import signed_headers

TIMEOUT_SECONDS = 10.0


class WebhookError(Exception):
    """A message was not taken; the text says why."""


class WebhookSender:
    """Sends messages; usable while it is entered.

    Redirects are not followed, the environment's proxies are not used, the body of an answer is not read.

    Args:
        key: signs the messages.
        allow_private: also send to addresses that are not public.
        timeout: seconds for one message, looking up the name included.
    """

    def __init__(self, key: bytes, *, allow_private: bool, timeout: float = TIMEOUT_SECONDS) -> None:
        self._key = key
        self._allow_private = allow_private
        self._timeout = timeout
        self._client = httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def __call__(self, url: str, message_id: str, body: bytes) -> None:
        """Send a message.

        Raises:
            WebhookError: the receiver cannot be reached, must not be, or does not answer 2xx.
        """
        try:
            async with asyncio.timeout(self._timeout):
                status = await self._send(httpx.URL(url), message_id, body)
        except TimeoutError as error:
            raise WebhookError(f"no answer within {self._timeout:g} s") from error
        except (httpx.HTTPError, OSError) as error:
            raise WebhookError(f"{type(error).__name__}: {error}"[:500]) from error
        if not 200 <= status < 300:
            redirect = ", a redirect, which is not followed" if 300 <= status < 400 else ""
            raise WebhookError(f"answered {status}{redirect}")

    async def _send(self, url: httpx.URL, message_id: str, body: bytes) -> int:
        address = await self._address(url)
        headers = {
            "Host": url.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": "PhaseRunner",
            **signed_headers(self._key, message_id, datetime.now(UTC), body),
        }
        async with self._client.stream(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers=headers,
            extensions={"sni_hostname": url.host},
        ) as response:
            return response.status_code

    async def _address(self, url: httpx.URL) -> str:
        # Looked up once: a name that gives another address the second time gains nothing.
        port = url.port or (443 if url.scheme == "https" else 80)
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        addresses = [str(each[4][0]) for each in found]
        private = [each for each in addresses if not is_public(each)]
        if private and not self._allow_private:
            raise WebhookError(f"{url.host} is at {private[0]}, which is not a public address")
        return addresses[0]
