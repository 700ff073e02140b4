"""Serves the dashboard: the built page, or the reason why it is missing."""

import mimetypes
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.edge.compression import accepts

INDEX = "index.html"
FAILURE = "build-failed.txt"
"""The file beside the built page that says why the last build failed; `frontend/build.py` writes it."""

_APP = Path(__file__).resolve().parents[2]
# A wheel contains the page inside the package; in a checkout it is where the build puts it.
_PLACES = (_APP / "_dashboard", _APP.parents[1] / "frontend" / "dist")
_SHOWN_REASON_CHARS = 4_000

# The build names these files after their content.
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_NO_HEADERS = Headers()
_COMPRESSED = (("br", ".br"), ("gzip", ".gz"))
"""Content codings, smallest first, and the file endings of the versions that the build compressed."""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>PhaseRunner</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 45rem; margin: 3rem auto; padding: 0 1rem;
         color-scheme: light dark }}
  code, pre {{ font-family: ui-monospace, monospace }}
  pre {{ white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid; padding: 0.5rem }}
</style>
<main>
<h1>PhaseRunner</h1>
<p>The service is running, but its dashboard is missing.</p>
{reason}
<p>Everything also works from the command line and over HTTP:</p>
<ul>
  <li><code>phaserunner run "GOAL" --repo PATH</code> starts a sprint and watches it</li>
  <li><code>phaserunner escalations</code> lists what waits for a person</li>
  <li><a href="/api/v1/runs">/api/v1/runs</a>, <a href="/api/v1/escalations">/api/v1/escalations</a>,
      <a href="/api/v1/evaluators">/api/v1/evaluators</a></li>
  <li><a href="/openapi.json">/openapi.json</a> describes the API,
      <a href="/api/v1/events/schema">/api/v1/events/schema</a> the events</li>
</ul>
</main>
"""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The directory of the built page; it may be missing now and appear later."""

    directory: Path

    @classmethod
    def find(cls) -> "Dashboard":
        """Return the page of this installation, or the place where it would be."""
        built = [place for place in _PLACES if (place / INDEX).is_file()]
        return cls(built[0] if built else _PLACES[-1])

    def response(self, path: str, *, for_reading: bool, request: Headers = _NO_HEADERS) -> Response | None:
        """Return the file that `path` names, else the page, which routes paths itself; None if neither fits.

        Args:
            path: the decoded path of a URL; starts with `/`.
            for_reading: whether a browser asks for a page. A program that mistypes a path gets none.
            request: what the client accepts, and which version it already has.
        """
        is_named_by_content = path.startswith("/assets/")
        wanted = self._file(path)
        if wanted is not None:
            return _file_response(wanted, _FOR_EVER if is_named_by_content else _ASK_AGAIN, request)
        if is_named_by_content or not (for_reading or path == "/"):
            return None
        index = self.directory / INDEX
        if index.is_file():
            return _file_response(index, _ASK_AGAIN, request)
        return HTMLResponse(_PAGE.format(reason=self._reason()), headers=_caching("no-store"))

    def _file(self, path: str) -> Path | None:
        if "\0" in path or "/." in path or path == "/":
            return None
        root = self.directory.resolve()
        try:
            wanted = (root / path.lstrip("/")).resolve()
            return wanted if wanted.is_relative_to(root) and wanted.is_file() else None
        except OSError:  # the name is too long for the file system
            return None

    def _reason(self) -> str:
        try:
            told = (self.directory.parent / FAILURE).read_text("utf-8", "replace")
        except OSError:
            return "<p>Build it with <code>make dashboard</code>, then reload this page.</p>"
        return f"<p>The build failed:</p><pre>{escape(told[-_SHOWN_REASON_CHARS:])}</pre>"


def with_dashboard(dashboard: Dashboard, otherwise: ASGIApp) -> ASGIApp:
    """Return an application for paths without a route: pages for browsers, `otherwise` for all others."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        response = await _response(dashboard, scope) if scope["type"] == "http" else None
        await (response or otherwise)(scope, receive, send)

    return serve


async def _response(dashboard: Dashboard, scope: Scope) -> Response | None:
    path: str = scope["path"]
    if scope["method"] not in ("GET", "HEAD") or f"{path}/".startswith("/api/"):
        return None
    request = Headers(scope=scope)
    for_reading = "text/html" in request.get("accept", "")
    return await to_thread.run_sync(
        partial(dashboard.response, path, for_reading=for_reading, request=request)
    )


def _file_response(file: Path, caching: str, request: Headers) -> Response:
    headers = {**_caching(caching), "Vary": "Accept-Encoding"}
    sent = file
    for coding, ending in _COMPRESSED:
        smaller = file.with_name(file.name + ending)
        if accepts(request.get("accept-encoding", ""), coding) and smaller.is_file():
            headers["Content-Encoding"], sent = coding, smaller
            break
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    # The tag is made from the file that is sent, so each coding has a different one.
    response = FileResponse(sent, headers=headers, media_type=kind, stat_result=sent.stat())
    if _has_already(request, response.headers["etag"]):
        kept = {name: response.headers[name] for name in ("etag", "cache-control", "vary")}
        return Response(status_code=304, headers=kept)
    return response


def _has_already(request: Headers, tag: str) -> bool:
    known = [each.strip().removeprefix("W/") for each in request.get("if-none-match", "").split(",")]
    return tag in known or "*" in known


def _caching(policy: str) -> dict[str, str]:
    return {"Cache-Control": policy}
