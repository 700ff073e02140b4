"""Requests in every dialect pass the gateway, are metered, and carry the key only towards the provider."""


import pytest

from app.agents.gateway_port import Dialect
from tests.integration.gateway.support import (
    EVERY_DIALECT,
    KEY,
    MODEL,
    open_scene,
)

pytestmark = pytest.mark.anyio

STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
DIALECTS = pytest.mark.parametrize("dialect", EVERY_DIALECT, ids=str)


@DIALECTS
@STREAMED
async def test_relays_and_meters(dialect: Dialect, stream: bool) -> None:
    async with open_scene(dialect) as scene:
        answer = await scene.ask(stream=stream)
        assert answer.status_code == 200, answer.text
        kind = "text/event-stream" if stream else "application/json"
        assert answer.headers["content-type"].startswith(kind)
        assert "scripted" in answer.text or stream
        usage = scene.endpoint.usage()
        assert (usage.requests, usage.input_tokens, usage.output_tokens) == (1, 2000, 100)
        [line] = scene.ledger.lines
        assert (line.status, line.model, line.tokens.input, line.tokens.output) == (200, MODEL, 2000, 100)
        assert scene.endpoint.failure() is None


@DIALECTS
async def test_sends_the_key_instead_of_the_token(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        await scene.ask()
        [seen] = scene.server.requests
        sent = " ".join(f"{name}: {value}" for name, value in seen.headers.items())
        assert KEY in sent
        assert scene.endpoint.token not in sent


@DIALECTS
async def test_relays_the_body_unchanged(dialect: Dialect) -> None:
    async with open_scene(dialect) as scene:
        answer = await scene.ask(temperature=0.25, note="naïve 😀")
        assert answer.status_code == 200
        body = scene.server.requests[0].body
        assert (body["temperature"], body["note"]) == (0.25, "naïve 😀")
