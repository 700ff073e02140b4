"""Keeps the spans of a test."""

from collections.abc import Iterator
from typing import Any

import logfire
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.core.telemetry import suppress_doubles


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    """Give what keeps the spans of the test."""
    keeping = InMemorySpanExporter()
    nowhere: dict[str, Any] = {"console": False, "metrics": False, "inspect_arguments": False}
    processors = [SimpleSpanProcessor(keeping)]
    logfire.configure(send_to_logfire=False, additional_span_processors=processors, **nowhere)
    suppress_doubles()
    yield keeping
    logfire.configure(send_to_logfire=False, **nowhere)
