"""Addresses of chats and webhooks are secrets, which no trace shows."""

from collections.abc import Generator

import httpx
import pytest
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.notifications.sending import post_to_chat
from app.webhooks.sending import WebhookError, WebhookSender

pytestmark = pytest.mark.anyio

SECRET = "http://127.0.0.1:9/services/T0/B0/only-for-us"


@pytest.fixture
def spans() -> Generator[InMemorySpanExporter]:
    """The spans of HTTP requests, as the service instruments them."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = HTTPXClientInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        yield exporter
    finally:
        instrumentor.uninstrument()


async def test_no_span_has_the_address_of_a_receiver(spans: InMemorySpanExporter) -> None:
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get("http://127.0.0.1:9/public")
    with pytest.raises(WebhookError, match="the chat cannot be reached"):
        await post_to_chat(httpx.AsyncClient, SECRET, {})
    async with WebhookSender(b"k" * 32, allow_private=True) as send:
        with pytest.raises(WebhookError, match="ConnectError"):
            await send(SECRET, "id", b"{}")
    told = [each.to_json() for each in spans.get_finished_spans()]
    assert len(told) == 1
    assert "/public" in told[0]
