"""A collector of traces on loopback: it keeps the spans that a service exports over OTLP."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

Attributes = dict[str, Any]


@dataclass
class Collector:
    """What has arrived so far.

    Attributes:
        url: for `OTEL_EXPORTER_OTLP_ENDPOINT`.
        spans: the attributes of each span.
    """

    url: str
    spans: list[Attributes] = field(default_factory=list[Attributes])

    def of_run(self, run_id: str) -> list[Attributes]:
        """Return the spans of a run's requests to models."""
        requests = [each for each in self.spans if each.get("gen_ai.operation.name") == "chat"]
        return [each for each in requests if each.get("run_id") == run_id]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/traces":
                collector.spans.extend(_spans(ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the library
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _spans(request: ExportTraceServiceRequest) -> Iterator[Attributes]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield {each.key: _value(each.value) for each in span.attributes}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    return getattr(value, kind) if kind else None
