"""Sends one signed message, and connects only to the address that was checked.

Through a proxy, the proxy resolves the name. The addresses that this machine finds are then checked.
"""

import asyncio
import socket
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.request import getproxies_environment, proxy_bypass

import httpx

from app.core.addresses import is_public
from app.core.tracing import untraced
from app.webhooks.signing import signed_headers

TIMEOUT_SECONDS = 10.0


class WebhookError(Exception):
    """A message was not accepted; the text says why.

    Attributes:
        retry_after: seconds after which the receiver accepts another try, if the receiver reports it.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WebhookSender:
    """Sends messages while it is open as a context manager.

    Redirects are not followed, and the body of a reply is not read. The proxies and authorities of the
    environment apply.

    Args:
        key: signs the messages.
        allow_private: whether to send to addresses that are not public.
        timeout: seconds for one message, including name resolution.
    """

    def __init__(self, key: bytes, *, allow_private: bool, timeout: float = TIMEOUT_SECONDS) -> None:
        self._key = key
        self._allow_private = allow_private
        self._timeout = timeout
        self._proxies = getproxies_environment()
        # Proxies are chosen here by host name, because other rules may apply to the
        # address that is connected to.
        trusted = httpx.create_ssl_context()
        self._direct = httpx.AsyncClient(
            follow_redirects=False, trust_env=False, timeout=timeout, verify=trusted
        )
        self._by_proxy = httpx.AsyncClient(follow_redirects=False, timeout=timeout, verify=trusted)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._direct)
        await self._stack.enter_async_context(self._by_proxy)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def __call__(self, url: str, message_id: str, body: bytes) -> None:
        """Send a message.

        Raises:
            WebhookError: the receiver cannot be reached, must not be reached, or does not reply with 2xx.
        """
        try:
            # The path of a receiver's address may be a secret.
            async with asyncio.timeout(self._timeout):
                with untraced():
                    status = await self._send(httpx.URL(url), message_id, body)
        except TimeoutError as error:
            raise WebhookError(f"no answer within {self._timeout:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            raise WebhookError(f"{type(error).__name__}: {error}"[:500]) from error
        if not 200 <= status < 300:
            redirect = ", a redirect, which is not followed" if 300 <= status < 400 else ""
            raise WebhookError(f"answered {status}{redirect}")

    async def _send(self, url: httpx.URL, message_id: str, body: bytes) -> int:
        headers = {
            "Host": url.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": "PhaseRunner",
            **signed_headers(self._key, message_id, datetime.now(UTC), body),
        }
        if self._goes_by_proxy(url):
            await self._check_known(url)
            client, target = self._by_proxy, url
        else:
            client, target = self._direct, url.copy_with(host=await self._address(url))
        async with client.stream(
            "POST", target, content=body, headers=headers, extensions={"sni_hostname": url.host}
        ) as response:
            return response.status_code

    def _goes_by_proxy(self, url: httpx.URL) -> bool:
        named = url.scheme in self._proxies or "all" in self._proxies
        return named and not proxy_bypass(url.host)

    async def _check_known(self, url: httpx.URL) -> None:
        try:
            await self._address(url)
        except OSError:
            return  # only the proxy can resolve the name

    async def _address(self, url: httpx.URL) -> str:
        # The name is resolved only once, so a second, different answer gains an attacker nothing.
        port = url.port or (443 if url.scheme == "https" else 80)
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        addresses = [str(each[4][0]) for each in found]
        private = [each for each in addresses if not is_public(each)]
        if private and not self._allow_private:
            raise WebhookError(f"{url.host} is at {private[0]}, which is not a public address")
        return addresses[0]
