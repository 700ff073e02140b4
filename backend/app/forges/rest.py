"""Calls the REST interface of a forge, and puts its failures into words."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, cast

import httpx

from app.core.certificates import trusted_authorities
from app.core.errors import PhaseRunnerError
from app.core.tracing import untraced
from app.forges.port import ForgeError

_TIMEOUT_SECONDS = 20.0
_MESSAGE_CHARS = 300

_LEAST_PAUSE = timedelta(seconds=5)

_PER_PAGE = 100
"""Items of a list in one response; both forges allow this many."""

OpenClient = Callable[[], httpx.AsyncClient]

ReadToken = Callable[[], Awaitable[str]]
"""Reads a token; called for each request, so that a rotated or renewed token takes effect at once."""


def forge_client() -> httpx.AsyncClient:
    """Make a client that follows no redirects, so that the token goes only where the operator says."""
    return httpx.AsyncClient(timeout=_TIMEOUT_SECONDS, follow_redirects=False, verify=trusted_authorities())


@dataclass(frozen=True, slots=True)
class ForgeDialect:
    """The differences between forges.

    Attributes:
        name: the forge's name, for people.
        permanent: statuses that another try does not change.
        retry_at: returns when a rate limit ends; None if the failure is of another kind.
        message: extracts the error message from the JSON of a failure.
        headers: sent with each request, in addition to the token.
    """

    name: str
    permanent: frozenset[HTTPStatus]
    retry_at: Callable[[httpx.Response], datetime | None]
    message: Callable[[Mapping[str, Any]], str]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class RestApi:
    """The REST interface of one forge.

    Args:
        dialect: the forge's kind.
        open_client: makes a client for one request.
        api: base URL of the API.
        token: reads the token; called for each request, so that a rotated token takes effect at once.
    """

    def __init__(self, dialect: ForgeDialect, open_client: OpenClient, api: str, token: ReadToken) -> None:
        self._dialect = dialect
        self._open_client = open_client
        self._api = api.rstrip("/")
        self._token = token

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        missing_ok: bool = False,
    ) -> Any:
        """Send a request, and return the JSON of the response, or `{}` if it is empty.

        Args:
            method: the HTTP method.
            path: path below the API's base URL, or a complete URL.
            query: query parameters.
            body: sent as JSON.
            missing_ok: whether 404 returns None instead of failing.

        Raises:
            ForgeError: there is no response, or it is a failure.
        """
        response = await self._request(method, path, query, body)
        if missing_ok and response.status_code == HTTPStatus.NOT_FOUND:
            return None
        if not response.is_success:
            raise self._failure(response, f"{method} {path}")
        try:
            return response.json() if response.content else {}
        except ValueError as error:
            raise ForgeError(f"{self._dialect.name} gave no JSON for {method} {path}") from error

    async def pages(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        most: int = 5,
        within: str | None = None,
        cut: Callable[[], None] | None = None,
    ) -> AsyncGenerator[list[dict[str, Any]]]:
        """Yield a list, one page of 100 items after the other.

        Args:
            path: path below the API's base URL.
            query: query parameters.
            most: the most pages to read.
            within: the key of the list, where the response is an object.
            cut: called at the end if the list may go on after the most pages.

        Raises:
            ForgeError: there is no response, or it is a failure.
        """
        for page in range(1, most + 1):
            asked = {**(query or {}), "per_page": str(_PER_PAGE), "page": str(page)}
            answer = await self.call("GET", path, query=asked)
            part = cast("list[dict[str, Any]]", answer[within] if within else answer)
            yield part
            if len(part) < _PER_PAGE:
                return
        if cut is not None:
            cut()

    async def every(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        most: int = 5,
        within: str | None = None,
        cut: Callable[[], None] | None = None,
    ) -> list[dict[str, Any]]:
        """Return the items of all `pages`."""
        pages = self.pages(path, query, most=most, within=within, cut=cut)
        return [each async for part in pages for each in part]

    async def text(self, path: str, limit: int) -> str:
        """Read a text, such as a log. The token is not sent to redirect targets.

        Args:
            path: path below the API's base URL.
            limit: the most bytes; of a longer text, the end is returned, and only the end is kept in memory.

        Raises:
            ForgeError: there is no response, or it is a failure.
        """
        found = await self._end_of(f"{self._api}{path}", await self._headers(), limit, path)
        if isinstance(found, httpx.URL):
            with untraced():  # the address holds a signature
                found = await self._end_of(found, {}, limit, path)
        if isinstance(found, httpx.URL):
            raise ForgeError(f"GET {path} leads from one redirect to another")
        return found

    async def _end_of(
        self, url: httpx.URL | str, headers: Mapping[str, str], limit: int, path: str
    ) -> str | httpx.URL:
        """Return the end of a text, or the target of a redirect."""
        try:
            async with self._open_client() as client, client.stream("GET", url, headers=headers) as response:
                if response.is_redirect and "location" in response.headers:
                    return response.url.join(response.headers["location"])
                if response.is_success:
                    return (await _tail(response, limit)).decode("utf-8", "replace")
                await response.aread()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error
        raise self._failure(response, f"GET {path}")

    async def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        url = path if "://" in path else f"{self._api}{path}"
        headers = await self._headers()
        try:
            async with self._open_client() as client:
                return await client.request(method, url, params=query, json=body, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error

    async def _headers(self) -> dict[str, str]:
        try:
            token = await self._token()
        except PhaseRunnerError as error:
            raise ForgeError(error.detail) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error
        return {
            "Authorization": f"Bearer {token}",
            "User-Agent": "PhaseRunner",
            **self._dialect.headers,
        }

    def _unreachable(self, error: Exception) -> ForgeError:
        return ForgeError(
            f"{self._dialect.name} cannot be reached: {type(error).__name__}: {error}"[:500], is_away=True
        )

    def _failure(self, response: httpx.Response, what: str) -> ForgeError:
        said = f"{what} gave {response.status_code}: {self._message(response)}"
        name = self._dialect.name
        if limited_until := self._dialect.retry_at(response):
            # This machine's clock may be ahead of the forge's: never ask again at once.
            retry_at = max(limited_until, datetime.now(UTC) + _LEAST_PAUSE)
            return ForgeError(f"{name} asks to wait until {retry_at:%H:%M:%S} UTC: {said}", retry_at=retry_at)
        match response.status_code:
            case HTTPStatus.UNAUTHORIZED:
                return ForgeError(f"{name} refuses the token; renew the credential: {said}")
            case HTTPStatus.FORBIDDEN:
                return ForgeError(f"the token may not do this; give it more rights: {said}")
            case HTTPStatus.NOT_FOUND:
                return ForgeError(f"this is not there, or the token may not see it: {said}")
            case status if 300 <= status < 400:
                return ForgeError(f"the repository was renamed or moved; change FORGES_FILE: {said}")
            case status:
                return ForgeError(said, permanent=status in self._dialect.permanent, is_away=status >= 500)

    def _message(self, response: httpx.Response) -> str:
        try:
            document: object = response.json()
        except ValueError:
            return response.text[:_MESSAGE_CHARS]
        if not isinstance(document, dict):
            return str(document)[:_MESSAGE_CHARS]
        return self._dialect.message(cast("dict[str, Any]", document))[:_MESSAGE_CHARS]


async def _tail(response: httpx.Response, limit: int) -> bytes:
    kept = bytearray()
    async for part in response.aiter_bytes():
        kept += part
        del kept[:-limit]
    return bytes(kept)
