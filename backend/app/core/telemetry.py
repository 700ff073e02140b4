"""Logs and traces: logfire makes the traces and sends them only where the operator says."""

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager

import logfire

from app.core.config import Settings

_DOUBLES = ("com.anthropic.sdk.python",)


def configure_telemetry(settings: Settings, *, service: str) -> None:
    """Set up spans for this process; without token and endpoint, nothing leaves the machine."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        # The exporter reads only the environment, while our settings may come from `.env`.
        os.environ.setdefault(  # noqa: TID251 - read by the SDK
            "OTEL_EXPORTER_OTLP_ENDPOINT", settings.OTEL_EXPORTER_OTLP_ENDPOINT
        )
    logfire.configure(
        send_to_logfire="if-token-present",
        token=settings.LOGFIRE_TOKEN.get_secret_value() if settings.LOGFIRE_TOKEN else None,
        service_name=service,
        console=False,
        metrics=False,
        inspect_arguments=False,
        distributed_tracing=True,
        data_dir=settings.DATA_DIR / "logfire",
    )
    logfire.instrument_httpx()
    suppress_doubles()


def suppress_doubles() -> None:
    """Keep libraries from reporting model requests, which already have spans."""
    logfire.suppress_scopes(*_DOUBLES)


def configure_logging(settings: Settings) -> None:
    """Log to standard error, one line per event."""
    logging.basicConfig(
        level=settings.LOG_LEVEL.upper(),
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
        datefmt="%H:%M:%S",
    )
    # Each job shows in the run that it advances, so the queue and the HTTP client need not log it.
    for chatty in ("procrastinate", "httpx", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def current_traceparent() -> str | None:
    """Return the current span as a W3C `traceparent`, to be continued elsewhere; None outside of a span."""
    return logfire.get_context().get("traceparent")


@contextmanager
def continued_trace(traceparent: str | None) -> Generator[None]:
    """Make the spans in the block children of `traceparent`, or roots if there is none."""
    if traceparent is None:
        yield
        return
    with logfire.attach_context({"traceparent": traceparent}):
        yield
