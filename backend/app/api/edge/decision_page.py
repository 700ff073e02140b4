"""The page that a signed link opens: it asks for confirmation, in plain HTML without scripts."""

from collections.abc import Callable, Coroutine
from html import escape
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from typing_extensions import override

from app.api.edge.problems import known_error, name_of
from app.core.errors import PhaseRunnerError, UnavailableError
from app.schemas.runs import EscalationDecision
from app.services.review.decision_links import LinkedDecision

_HEADERS = {
    "Cache-Control": "no-store",
    # Without this header a browser would send the form without an origin, and the request would be refused.
    "Referrer-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} · PhaseRunner</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem;
         color-scheme: light dark; overflow-wrap: anywhere }}
  button {{ font: inherit; min-height: 2.75rem; padding: 0 1.25rem }}
</style>
<main>
<h1>{title}</h1>
{body}
</main>
</html>
"""
_WORDS = {EscalationDecision.ACCEPT: "Accept", EscalationDecision.REJECT: "Reject"}
_EFFECTS = {
    EscalationDecision.ACCEPT: "Accepting lets this result through although the gates did not pass it.",
    EscalationDecision.REJECT: "Rejecting ends the run as failed.",
}
_LATER = """<p>It cannot reach its database. Open the link again in a minute.</p>
<p>If you have just decided, the page then says whether that was recorded.</p>"""


def confirm_page(found: LinkedDecision) -> HTMLResponse:
    """Return the page that asks for confirmation; only its form's POST decides."""
    asked, decision = found.escalation, found.link.decision
    paragraphs = [
        f"<p><strong>{escape(asked.run_name)}</strong></p>",
        f"<p>Phase {escape(asked.phase)}, attempt {asked.attempt}</p>",
        f"<p>{escape(asked.reason)}</p>",
        f"<p>{_EFFECTS[decision]} This cannot be undone.</p>",
        f'<form method="post"><button type="submit">{_WORDS[decision]}</button></form>',
        _link_to(found),
    ]
    return _page(f"{_WORDS[decision]} this escalation?", "\n".join(paragraphs))


def decided_page(found: LinkedDecision) -> HTMLResponse:
    """Return the page that says that the decision was recorded."""
    word = "accepted" if found.link.decision is EscalationDecision.ACCEPT else "rejected"
    return _page("Recorded", f"<p>{escape(found.escalation.run_name)} was {word}.</p>{_link_to(found)}")


def refusal_page(error: PhaseRunnerError) -> HTMLResponse:
    """Return the page that says why a link does nothing, or does nothing now."""
    if isinstance(error, UnavailableError):
        return _page("PhaseRunner cannot answer now", _LATER, error.status)
    return _page("This link does nothing", f"<p>{escape(error.detail)}</p>", error.status)


class DecisionRoute(APIRoute):
    """A route of a link that people open: errors are pages, too."""

    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the usual handler, with a page for each error that the service knows."""
        handle = super().get_route_handler()

        async def handle_with_pages(request: Request) -> Response:
            try:
                return await handle(request)
            except Exception as error:
                if known := known_error(error, name_of(request.scope)):
                    return refusal_page(known)
                raise

        return handle_with_pages


def _link_to(found: LinkedDecision) -> str:
    return f'<p><a href="/escalations/{found.escalation.id}">Open the escalation</a></p>'


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=escape(title), body=body), status, _HEADERS)
