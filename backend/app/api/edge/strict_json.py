"""Routes that refuse what would be ignored: repeated keys of JSON, and unknown query parameters."""

import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import override

from app.api.edge.strict_query import QueryNames


def read_json(text: bytes | str) -> Any:
    """Parse JSON.

    Raises:
        json.JSONDecodeError: it is not valid, or an object repeats a key.
        UnicodeDecodeError: the bytes are not text.
    """
    document = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
    return json.loads(document, object_pairs_hook=partial(_unique, document))


def _unique(document: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            position = max(0, document.rfind(json.dumps(key)))
            raise json.JSONDecodeError(f"the key {key!r} appears twice", document, position)
        found[key] = value
    return found


class _StrictRequest(Request):
    @override
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route that reads its JSON body with `read_json`, and takes no query parameters but its own.

    Routes whose URLs other programs extend, such as links in e-mails, are plain ones.
    """

    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the usual handler with a stricter request."""
        handle, names = super().get_route_handler(), QueryNames.of(self.dependant)

        async def handle_strictly(request: Request) -> Response:
            names.check(request)
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly
