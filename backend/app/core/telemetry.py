"""Logs and traces: traces through logfire, sent only to a place that the operator names."""

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager

import logfire

from app.core.config import Settings

_DOUBLES = ("com.anthropic.sdk.python",)


def configure_telemetry(settings: Settings, *, service: str) -> None:
    """Set up spans for this process; without token and endpoint nothing leaves the machine."""
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        # The exporter reads nothing but the environment, while our settings may come from `.env`.
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
    """Keep libraries from reporting model requests, each of which has a span already."""
    logfire.suppress_scopes(*_DOUBLES)


def configure_logging(settings: Settings) -> None:
    """Log to standard error, one line an event."""
    logging.basicConfig(
        level=settings.LOG_LEVEL.upper(),
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
        datefmt="%H:%M:%S",
    )
    # Each job shows in the run it moves on; the queue and the HTTP client need not say it again.
    for chatty in ("procrastinate", "httpx", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def current_traceparent() -> str | None:
    """The current span as a W3C `traceparent`, to be continued elsewhere; None outside any."""
    return logfire.get_context().get("traceparent")


@contextmanager
def continued_trace(traceparent: str | None) -> Generator[None]:
    """Make the spans opened inside children of `traceparent`, or roots without one."""
    if traceparent is None:
        yield
        return
    with logfire.attach_context({"traceparent": traceparent}):
        yield
