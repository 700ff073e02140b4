"""Serves the double of GitHub over HTTP on loopback."""

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from tests.forge_double import GitHubDouble


class Handler(BaseHTTPRequestHandler):
    """Answers requests to the double that is its `state`."""

    protocol_version = "HTTP/1.1"
    state: "GitHubDouble"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body: Any = json.loads(content) if content else None
        fault = self.state.next_fault(self.command, parts.path)
        if fault is not None and fault.seconds:
            time.sleep(fault.seconds)
        if fault is not None and fault.status:
            self._send(fault.status, {"message": fault.message}, fault.headers)
            return
        if parts.path.startswith("/stored-logs/"):
            # Logs lie on another server, which must not see the token.
            assert "Authorization" not in self.headers
            self._send_text(self.state.logs[int(parts.path.rpartition("/")[2])])
            return
        if not self.state.lets_in(parts.path, self.headers.get("Authorization", "")):
            self._send(401, {"message": "Bad credentials"}, {})
            return
        status, answer = self.state.answer(self.command, parts.path, parse_qs(parts.query), body)
        self.state.note(self.command, parts.path, body, status, answer)
        if fault is not None and fault.seconds == 0:
            self.close_connection = True
            return
        self._send(status, answer, {"Location": answer} if status == 302 else {})

    def _send_text(self, text: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send(self, status: int, answer: Any, headers: dict[str, str]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
