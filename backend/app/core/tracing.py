"""Spans through OpenTelemetry's API alone, so that a process without tracing imports no exporter."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

from opentelemetry import context, trace
from opentelemetry.trace import Span


def open_span(name: str, **attributes: str | int | None) -> AbstractContextManager[Span]:
    """Return a span as a context manager; without a configured exporter it is discarded.

    Args:
        name: the span's name.
        attributes: the span's attributes; those that are None are left out.
    """
    known = {key: value for key, value in attributes.items() if value is not None}
    return trace.get_tracer("phaserunner").start_as_current_span(name, attributes=known)


@contextmanager
def untraced() -> Generator[None]:
    """Make no spans of HTTP requests in the block, whose URLs are secrets."""
    token = context.attach(context.set_value("suppress_instrumentation", True))
    try:
        yield
    finally:
        context.detach(token)


def current_trace_id() -> str | None:
    """Return the id of the current trace as 32 hexadecimal digits; None outside of a trace."""
    span = trace.get_current_span().get_span_context()
    return format(span.trace_id, "032x") if span.is_valid else None
