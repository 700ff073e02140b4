"""What a request carries about its sender: a token, or only a name."""

from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

USER_HEADER = "x-phaserunner-user"
SUBPROTOCOL = "phaserunner"
"""The subprotocol that browsers offer beside `bearer.TOKEN`: they cannot set headers on a WebSocket."""

MAX_NAME_CHARS = 100
DEFAULT_NAME = "local"

_BEARER_PREFIX = "bearer."


def take_token(scope: Scope, headers: Headers) -> str:
    """Return the token of a request; empty if there is none.

    A WebSocket may carry the token as a subprotocol or as `?token=`. The latter is removed from the scope, so
    that no log contains it.
    """
    queried = _from_query(scope) if scope["type"] == "websocket" else ""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    offered = (each for each in _subprotocols(scope) if each.startswith(_BEARER_PREFIX))
    return next(offered, queried).removeprefix(_BEARER_PREFIX)


def offers_subprotocol(scope: Scope) -> bool:
    """Return whether a WebSocket's client expects the server to choose a subprotocol."""
    return SUBPROTOCOL in _subprotocols(scope)


def claimed_name(headers: Headers) -> str:
    """Return the name in `X-PhaseRunner-User`, on one printable line; `local` if there is none."""
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
