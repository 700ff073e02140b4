"""What a request says about who sends it: a token, or only a name."""

from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

USER_HEADER = "x-phaserunner-user"
SUBPROTOCOL = "phaserunner"
"""The subprotocol a browser offers beside `bearer.TOKEN`, because it cannot set headers on a WebSocket."""

MAX_NAME_CHARS = 100
DEFAULT_NAME = "local"

_BEARER_PREFIX = "bearer."


def take_token(scope: Scope, headers: Headers) -> str:
    """Return the token of a request, empty without one.

    A WebSocket may carry it as a subprotocol or as `?token=`. The latter is taken out of the scope, so that
    no log gets to see it.
    """
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    if scope["type"] != "websocket":
        return ""
    for offered in _subprotocols(scope):
        if offered.startswith(_BEARER_PREFIX):
            return offered.removeprefix(_BEARER_PREFIX)
    return _from_query(scope)


def offers_subprotocol(scope: Scope) -> bool:
    """True when a WebSocket's client waits for a subprotocol to be chosen."""
    return SUBPROTOCOL in _subprotocols(scope)


def claimed_name(headers: Headers) -> str:
    """The name in `X-PhaseRunner-User`, in one printable line; who gives none is `local`."""
    given = headers.get(USER_HEADER, "").encode("latin-1")
    words = given.decode("utf-8", "replace").split()
    name = "".join(character for character in " ".join(words) if character.isprintable())
    return name[:MAX_NAME_CHARS].strip() or DEFAULT_NAME


def _subprotocols(scope: Scope) -> list[str]:
    return list(scope.get("subprotocols") or ())


def _from_query(scope: Scope) -> str:
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = [(name, value) for name, value in pairs if name != "token"]
    scope["query_string"] = urlencode(rest).encode()
    return next((value for name, value in pairs if name == "token"), "")
