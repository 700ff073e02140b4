"""A gateway in front of the scripted model server, and requests of agents in each dialect."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from app.agents.gateway_port import BASE_PATHS, Dialect, GatewayEndpoint, GatewayGrant
from app.agents.port import AgentLimits
from app.gateway.asking import RetryRules
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import ModelRequest
from app.gateway.prices import ListPrices
from app.gateway.scripted.script import Say, Turn
from app.gateway.scripted.server import ScriptedModelServer

KEY = "sk-the-real-key-0123456789"
MODEL = "claude-sonnet-5-5"
AT_ONCE = RetryRules(tries=3, first_pause=0.0, longest_pause=5.0)
WORDS = "Words of the scripted model, long enough to come in several pieces."

EVERY_DIALECT = list(Dialect)

_TOKEN_HEADERS = {
    Dialect.OPENAI_CHAT: ("authorization", "Bearer "),
    Dialect.OPENAI_RESPONSES: ("authorization", "Bearer "),
    Dialect.ANTHROPIC: ("x-api-key", ""),
    Dialect.GEMINI: ("x-goog-api-key", ""),
}


@dataclass
class MemoryLedger:
    """A ledger that keeps its lines in a list."""

    lines: list[ModelRequest] = field(default_factory=list[ModelRequest])

    def record(self, request: ModelRequest) -> None:
        """Keep a request."""
        self.lines.append(request)


@dataclass
class Scene:
    """A server, the gateway in front of it, one endpoint, and a client that knows the token."""

    server: ScriptedModelServer
    gateway: ModelGateway
    endpoint: GatewayEndpoint
    ledger: MemoryLedger
    dialect: Dialect
    client: httpx.AsyncClient

    async def ask(self, *, stream: bool = False, model: str = MODEL, **more: Any) -> httpx.Response:
        """Ask for an answer as the dialect's clients do."""
        path, body = request(self.dialect, model, stream=stream)
        return await self.client.post(path, json={**body, **more})


def request(
    dialect: Dialect, model: str = MODEL, *, stream: bool = False, prompt: str = "Work."
) -> tuple[str, dict[str, Any]]:
    """Return path and body of a request for an answer."""
    message = {"role": "user", "content": prompt}
    match dialect:
        case Dialect.OPENAI_CHAT:
            return "/v1/chat/completions", {"model": model, "messages": [message], "stream": stream}
        case Dialect.OPENAI_RESPONSES:
            return "/v1/responses", {"model": model, "input": [message], "stream": stream}
        case Dialect.ANTHROPIC:
            body = {"model": model, "messages": [message], "stream": stream, "max_tokens": 100}
            return "/v1/messages", body
        case Dialect.GEMINI:
            method = "streamGenerateContent?alt=sse" if stream else "generateContent"
            contents = [{"role": "user", "parts": [{"text": prompt}]}]
            return f"/v1beta/models/{model}:{method}", {"contents": contents}


def client_of(endpoint: GatewayEndpoint, dialect: Dialect, token: str | None = None) -> httpx.AsyncClient:
    """Return a client of an endpoint, by default with its token."""
    name, scheme = _TOKEN_HEADERS[dialect]
    headers = {name: scheme + (endpoint.token if token is None else token)}
    if endpoint.socket is None:
        return httpx.AsyncClient(base_url=endpoint.url or "", headers=headers, timeout=20, verify=False)
    transport = httpx.AsyncHTTPTransport(uds=str(endpoint.socket), verify=False)
    return httpx.AsyncClient(
        transport=transport, base_url="http://gateway", headers=headers, timeout=20, verify=False
    )


@asynccontextmanager
async def open_scene(
    dialect: Dialect = Dialect.ANTHROPIC,
    *,
    script: Sequence[Turn] = (Say(WORDS),),
    models: tuple[str, ...] = (MODEL,),
    limits: AgentLimits | None = None,
    confined: bool = False,
    prefix: str = "",
    retry: RetryRules = AT_ONCE,
    silence: float = 20.0,
    pause: float = 0.01,
) -> AsyncGenerator[Scene]:
    """Open all of it while the block runs."""
    ledger = MemoryLedger()
    async with ScriptedModelServer(script, pause_seconds=pause) as server:
        upstreams = server.upstreams(KEY, prefix)
        async with ModelGateway(
            upstreams, ListPrices(), ledger, retry=retry, silence_seconds=silence
        ) as gateway:
            grant = GatewayGrant(dialect, models, limits or AgentLimits(), confined=confined)
            async with gateway.open(grant) as endpoint, client_of(endpoint, dialect) as client:
                yield Scene(server, gateway, endpoint, ledger, dialect, client)


def base_url(endpoint: GatewayEndpoint, dialect: Dialect) -> str:
    """Return the base URL of the dialect's clients."""
    return f"{endpoint.url}{BASE_PATHS[dialect]}"
