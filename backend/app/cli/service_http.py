"""HTTP calls to the service: documents, downloads, and errors as one line."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import httpx
from pydantic import BaseModel, ValidationError

from app.cli.exits import CliError, ExitCode
from app.cli.service_address import bearer, http_client
from app.cli.view.text import one_line

PREFIX = "/api/v1"
_START_TIMEOUT = httpx.Timeout(600.0, connect=5.0)  # a start fetches the source
_START_TRIES = 3
_PAUSE_SECONDS = 0.5

Params = Mapping[str, str | list[str]]
"""Query parameters. A list is one parameter that is repeated."""

ViewT = TypeVar("ViewT", bound=BaseModel)


class ServiceHttp:
    """Makes HTTP calls to one service.

    Every method raises `CliError` with the matching exit code: 2 for input that the service refuses, 4 for
    missing rights, 5 if the service cannot be reached or is not PhaseRunner, 6 if it has an error itself.

    Args:
        url: address of the service, `http://127.0.0.1:8000`.
        token: sent as a bearer token.
        user: the name recorded with decisions, if the service uses no tokens.
        transport: carries the requests; None is the network.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        user: str = "",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.has_token = bool(token)
        headers = {"Authorization": bearer(token)} if token else {}
        if user:
            headers["X-PhaseRunner-User"] = user.encode("ascii", "backslashreplace").decode()
        self._http = http_client(self.url, headers, transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def json(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """Get a JSON document without validating it."""
        return _document(await self._request(method, path, params, body))

    async def fetch(
        self, path: str, method: str = "GET", *, params: Params | None = None, accept: str = "*/*"
    ) -> httpx.Response:
        """Get a document that need not be JSON."""
        return await self._request(method, path, params, None, accept)

    async def download(self, path: str, to: Path, params: Params | None = None) -> int:
        """Write a document to a file.

        Returns:
            The number of bytes.
        """
        response = await self._request("GET", path, params, None)
        try:
            return await asyncio.to_thread(to.write_bytes, response.content)
        except OSError as error:
            raise CliError(f"{to} cannot be written: {error.strerror}") from error

    async def is_ready(self) -> bool:
        """Return True if the service reports that it can work. Never raises."""
        try:
            return (await self._http.get("/readyz", timeout=5.0)).is_success
        except httpx.HTTPError:
            return False

    async def post_start(self, path: str, request: BaseModel, view: type[ViewT], key: str) -> ViewT:
        """Start a run.

        Repeating it with the same `key` is safe, so a request with a lost response is repeated.
        """
        body = request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        # The source is sent even if it is the default, because the API needs its kind.
        source = request.model_dump(mode="json", include={"source"}, exclude_none=True)
        return _read(view, self._checked(await self._post_again(PREFIX + path, body | source, key)))

    async def get(self, kind: type[ViewT], path: str, params: Params | None = None) -> ViewT:
        """Get a document and validate it as a model."""
        return _read(kind, await self._request("GET", path, params, None))

    async def _request(
        self,
        method: str,
        path: str,
        params: Params | None,
        body: Mapping[str, Any] | None,
        accept: str = "*/*",
    ) -> httpx.Response:
        headers = {"Accept": accept}
        try:
            response = await self._http.request(
                method, PREFIX + path, params=params, json=body, headers=headers
            )
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return self._checked(response)

    async def _post_again(self, path: str, body: Mapping[str, Any], key: str) -> httpx.Response:
        tries = 0
        while True:
            tries += 1
            try:
                return await self._http.post(
                    path, json=body, headers={"Idempotency-Key": key}, timeout=_START_TIMEOUT
                )
            except httpx.TransportError as error:
                is_lost_response = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
                if not is_lost_response or tries == _START_TRIES:
                    raise self._unreachable(error) from error
            await asyncio.sleep(_PAUSE_SECONDS)

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        if response.is_redirect:
            raise CliError(f"--url: {self.url} answers with a redirect", ExitCode.TRANSPORT)
        raise _problem(response)

    def _unreachable(self, error: httpx.TransportError) -> CliError:
        if isinstance(error, httpx.ConnectError):
            message = (
                f"no server answers at {self.url}; start one with `phaserunner serve`, or name it with --url"
            )
        else:
            message = f"the connection to {self.url} failed: {one_line(str(error) or type(error).__name__)}"
        return CliError(message, ExitCode.TRANSPORT)


def exit_code_of(status: int) -> ExitCode:
    """Return the exit code for an HTTP error status."""
    if status in (401, 403):
        return ExitCode.AUTH
    if status == 409:
        return ExitCode.FAILED
    return ExitCode.INFRASTRUCTURE if status >= 500 or status == 429 else ExitCode.USAGE


def _problem(response: httpx.Response) -> CliError:
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        text = f"{response.url} answered {response.status_code} and is not PhaseRunner's API; check --url"
        return CliError(text, ExitCode.TRANSPORT)
    problem = cast("dict[str, Any]", document)
    detail = str(
        problem.get("detail") or problem.get("title") or f"the service answered {response.status_code}"
    )
    field = problem.get("field")
    message = f"{field}: {detail}" if field and not detail.startswith(str(field)) else detail
    if response.status_code == 401:
        message += "; give a token with --token or PHASERUNNER_TOKEN"
    return CliError(one_line(message, 1000), exit_code_of(response.status_code))


def _document(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        text = f"{response.url} does not answer in JSON; is it PhaseRunner? Check --url"
        raise CliError(text, ExitCode.TRANSPORT) from error


def _read(kind: type[ViewT], response: httpx.Response) -> ViewT:
    try:
        return kind.model_validate(_document(response))
    except ValidationError as error:
        from app.cli.follow import strange  # noqa: PLC0415 - only for this call: keeps start-up quick

        raise strange(response.url.path, error) from error
