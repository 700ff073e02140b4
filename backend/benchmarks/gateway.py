"""What the model gateway adds to a streamed answer, chunk by chunk, compared with the provider itself."""

import asyncio
import json
import statistics
import time
from pathlib import Path

import httpx
import logfire
from starlette.types import Receive, Scope, Send

from app.agents.gateway_port import Dialect, GatewayGrant
from app.gateway.exchange import GatewayExchange
from app.gateway.gateway import ModelGateway
from app.gateway.ledger import NoLedger
from app.gateway.prices import ListPrices
from app.gateway.serving import serve_on_loopback
from app.gateway.upstreams import Upstream
from benchmarks.figures import Series

TITLE = "gateway: a streamed answer, relayed and direct"
ROUNDS = 10
CHUNKS = 100
PAUSE_SECONDS = 0.005
TARGET_MS = 5.0

_BODY = {"model": "gpt-5", "messages": [{"role": "user", "content": "Work."}], "stream": True}
_USAGE = {"prompt_tokens": 2000, "completion_tokens": CHUNKS}


async def measure(place: Path) -> list[Series]:
    """Stream in turns through the gateway and past it; the first turns are not counted."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    relayed: list[float] = []
    direct: list[float] = []
    whole_relayed: list[float] = []
    whole_direct: list[float] = []
    async with serve_on_loopback(_provide) as provider, httpx.AsyncClient(verify=False) as client:
        upstream = Upstream(
            Dialect.OPENAI_CHAT, "openai", f"{provider.url}/v1", "key", "OPENAI_API_KEY", "openai"
        )
        async with ModelGateway({Dialect.OPENAI_CHAT: upstream}, ListPrices(), NoLedger()) as gateway:
            grant = GatewayGrant(Dialect.OPENAI_CHAT, ("*",))
            async with gateway.open(grant) as endpoint:
                transport = httpx.AsyncHTTPTransport(uds=str(endpoint.socket))
                headers = {"authorization": f"Bearer {endpoint.token}"}
                async with httpx.AsyncClient(transport=transport, headers=headers) as through:
                    for turn in range(ROUNDS + 1):
                        one, took = await _stream(through, "http://gateway")
                        other, alone = await _stream(client, provider.url or "")
                        if turn > 0:
                            relayed += one
                            direct += other
                            whole_relayed.append(took)
                            whole_direct.append(alone)
    added = [one - other for one, other in zip(relayed, direct, strict=True)]
    ratio = statistics.median(relayed) / statistics.median(direct)
    return [
        Series("a chunk, relayed", relayed),
        Series("a chunk, direct", direct),
        Series("added to a chunk", added, "ms", TARGET_MS),
        Series("relayed to direct, medians", [ratio], "times"),
        Series(f"a stream of {CHUNKS} chunks, relayed", whole_relayed),
        Series(f"a stream of {CHUNKS} chunks, direct", whole_direct),
    ]


async def _stream(client: httpx.AsyncClient, url: str) -> tuple[list[float], float]:
    """Return how long each chunk was on its way, and the whole stream, in milliseconds."""
    ways: list[float] = []
    started = time.monotonic()
    async with client.stream("POST", f"{url}/v1/chat/completions", json=_BODY) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                ways.append((time.monotonic() - json.loads(line[6:])["sent"]) * 1000)
    return ways, (time.monotonic() - started) * 1000


async def _provide(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with chunks that carry the moment in which they were sent."""
    exchange = GatewayExchange(scope, receive, send)
    await exchange.read_body(1_000_000)
    await exchange.begin(200, {"content-type": "text/event-stream"})
    for number in range(CHUNKS):
        await asyncio.sleep(PAUSE_SECONDS)
        last = number == CHUNKS - 1
        choice = {"index": 0, "delta": {"content": "word "}, "finish_reason": "stop" if last else None}
        chunk = {
            "model": "gpt-5",
            "choices": [choice],
            "usage": _USAGE if last else None,
            "sent": time.monotonic(),
        }
        await exchange.piece(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    await exchange.piece(b"data: [DONE]\n\n")
    await exchange.end()
