"""Endpoints come and go without a trace, and their requests can be seen in traces without their content."""

import asyncio
import tempfile
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import logfire
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.agents.gateway_port import Dialect, GatewayGrant
from app.gateway.relay import MAX_BODY_BYTES
from app.gateway.scripted.server import Mode
from tests.integration.gateway.support import KEY, MODEL, client_of, open_scene, request

pytestmark = pytest.mark.anyio


def _names(directory: Path) -> list[str]:
    return [each.name for each in directory.iterdir()]


async def _send(url: str | None, content: bytes, until: bytes) -> bytes:
    """Send bytes and return the beginning of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url or "").port)
    try:
        writer.write(content)
        async with asyncio.timeout(20):
            return await reader.readuntil(until)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_twenty_agents_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with open_scene() as scene:
        tasks = len(asyncio.all_tasks())
        async with AsyncExitStack() as stack:
            grant = GatewayGrant(scene.dialect, (MODEL,))
            endpoints = [await stack.enter_async_context(scene.gateway.open(grant)) for _ in range(20)]
            assert len({each.token for each in endpoints}) == 20
            assert len(_names(tmp_path)) == 20
            path, body = request(scene.dialect, stream=True)
            async with client_of(endpoints[7], scene.dialect) as client:
                assert (await client.post(path, json=body)).status_code == 200
            assert [each.usage().requests for each in endpoints].count(1) == 1
        assert _names(tmp_path) == []
        await asyncio.sleep(0)
        # The connection to the provider is kept for the next agent.
        assert len(asyncio.all_tasks()) <= tasks + 1


async def test_a_token_opens_its_own_endpoint_only() -> None:
    async with open_scene() as scene:
        grant = GatewayGrant(scene.dialect, (MODEL,), confined=False)
        async with scene.gateway.open(grant) as other:
            path, body = request(scene.dialect)
            async with client_of(other, scene.dialect, token=scene.endpoint.token) as client:
                assert (await client.post(path, json=body)).status_code == 401


async def test_a_request_that_announces_too_much_is_refused_before_it_comes() -> None:
    async with open_scene() as scene:
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {scene.endpoint.token}\r\n"
        length = f"content-length: {MAX_BODY_BYTES + 1}\r\n\r\n"
        answer = await _send(scene.endpoint.url, (head + length).encode(), b"}}")
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"request_too_large" in answer


@pytest.mark.parametrize("noise", [b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET /\r\n\r\n", b"x" * 100_000])
async def test_noise_is_answered_and_ends(noise: bytes) -> None:
    async with open_scene() as scene:
        assert (await _send(scene.endpoint.url, noise, b"\r\n")).startswith(b"HTTP/1.1 400")
        assert (await scene.ask()).status_code == 200


async def test_spans_have_the_names_of_the_conventions_and_no_content(exporter: InMemorySpanExporter) -> None:
    async with open_scene(Dialect.OPENAI_RESPONSES, models=("gpt-5",)) as scene:
        with logfire.span("an attempt"):
            grant = GatewayGrant(scene.dialect, ("gpt-5",), confined=False)
            async with scene.gateway.open(grant) as endpoint, client_of(endpoint, scene.dialect) as client:
                path, body = request(scene.dialect, "gpt-5", stream=True, prompt="a secret prompt")
                await client.post(path, json=body)
                scene.server.behave(Mode.UNAUTHORIZED)
                await client.post(path, json=body)
    spans = exporter.get_finished_spans()
    parent = next(each for each in spans if each.name == "an attempt")
    good, bad = (each for each in spans if each.name == "chat gpt-5")
    found = dict(good.attributes or {})
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.provider.name"] == "openai"
    assert found["gen_ai.request.model"] == found["gen_ai.response.model"] == "gpt-5"
    assert found["gen_ai.usage.input_tokens"] == 2000
    assert found["gen_ai.usage.output_tokens"] == 100
    assert found["http.response.status_code"] == 200
    [priced, unpriced] = scene.ledger.lines
    assert found["operation.cost"] == float(priced.cost.dollars or 0) > 0
    assert "operation.cost" not in (bad.attributes or {}), unpriced
    assert dict(bad.attributes or {})["error.type"] == "401"
    assert good.context is not None
    assert parent.context is not None
    assert good.context.trace_id == parent.context.trace_id
    shown = " ".join(each.to_json() for each in spans)
    assert "a secret prompt" not in shown
    assert KEY not in shown
    assert scene.endpoint.token not in shown
