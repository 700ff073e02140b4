"""`mcp`: serves PhaseRunner's tools to agents over the Model Context Protocol."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import CliError, ExitCode
from app.cli.given import read_given
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument

if TYPE_CHECKING:
    from app.cli.api_client import ApiClient
    from app.mcp.ports import OpenService, ServiceClient

_HOST = "127.0.0.1"


async def mcp(
    *,
    http: Annotated[int | None, Parameter(validator=Number(gte=1, lte=65_535))] = None,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Serve tools and resources for agents: judging here, runs and escalations on a service.

    Args:
        http: Port on loopback for streamable HTTP; without it, standard input and output.
    """
    if http is not None:
        _require_free(http)
    # The SDK takes half a second to import.
    from app.mcp.server import build_server  # noqa: PLC0415 - only to serve: keeps other commands quick

    server = build_server(version("phaserunner"), root.judging, service_of(root, options))
    if http is None:
        await server.run_stdio_async()
    else:
        root.terminal(options).say(f"MCP over HTTP: http://{_HOST}:{http}/mcp")
        await server.run_streamable_http_async(host=_HOST, port=http)
    return ExitCode.PASSED


def _require_free(port: int) -> None:
    from app.cli.hosting import is_free  # noqa: PLC0415 - only over HTTP: it imports the agents

    if not is_free(_HOST, port):
        raise CliError(f"--http: port {port} on {_HOST} is taken; choose another", ExitCode.INFRASTRUCTURE)


def service_of(root: Root, options: Options) -> "OpenService":
    """Return a function that opens the service with a caller's token. None means this process's token."""

    @asynccontextmanager
    async def opened(token: str | None) -> "AsyncGenerator[ServiceClient]":
        # A caller over HTTP acts with their own rights, never with this process's token.
        chosen = options if token is None else Options(url=options.url, token=token)
        async with _client(root, chosen, own=token is None) as api:
            yield _ServiceOverHttp(api)

    return opened


@asynccontextmanager
async def _client(root: Root, options: Options, *, own: bool) -> "AsyncGenerator[ApiClient]":
    if own:
        async with root.session(options) as session:
            yield session.api
        return
    from app.cli.api_client import ApiClient  # noqa: PLC0415 - only for a service: keeps start-up quick

    url = options.url or root.settings.service_url
    async with ApiClient(url, options.token or None, "", root.transport) as api:
        yield api


class _ServiceOverHttp:
    """Implements the MCP server's port with the command line's client."""

    def __init__(self, api: "ApiClient") -> None:
        self._api = api

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """Make a call."""
        from app.mcp.ports import ServiceRefusedError  # noqa: PLC0415 - only to serve

        try:
            return await self._api.json(method, path, params=params, body=body)
        except CliError as error:
            raise ServiceRefusedError(error.message) from error

    async def start(self, fields: Mapping[str, Any]) -> Any:
        """Start a sprint."""
        from app.mcp.ports import ServiceRefusedError  # noqa: PLC0415 - only to serve
        from app.schemas.api.sprints import SprintCreate  # noqa: PLC0415 - only to serve

        try:
            started = await self._api.start(read_given(SprintCreate, fields), str(uuid4()))
        except CliError as error:
            raise ServiceRefusedError(error.message) from error
        return started.model_dump(mode="json")
