"""Access control: roles, tokens, and the origins from which requests are accepted."""

import hashlib
import ipaddress
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from app.core.errors import InvalidInputError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

_STANDARD_PORTS = {"http": 80, "https": 443}


class Role(StrEnum):
    """What a token allows; each role includes those before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    REVIEWER = "reviewer"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Return whether this role may do what `other` may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Principal:
    """The person or token behind a request."""

    name: str
    role: Role


def new_token() -> str:
    """Return a token with 256 bits of randomness; its prefix lets secret scanners find it."""
    return f"pr_{secrets.token_urlsafe(32)}"


def digest_of(token: str) -> bytes:
    """Return the digest of a token for storage; tokens are random enough for a plain SHA-256."""
    return hashlib.sha256(token.encode()).digest()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_safe_binding(host: str, names: Collection[str] = (), *, tokens_exist: bool) -> None:
    """Refuse to serve other machines while no token exists.

    Args:
        host: address to listen on.
        names: further names by which the service may be addressed.
        tokens_exist: whether requests must carry a token.

    Raises:
        InvalidInputError: other machines could reach the service; the error names HOST or ALLOWED_HOSTS.
    """
    if tokens_exist:
        return
    elsewhere = next((name for name in names if not is_loopback(name.lower())), None)
    if is_loopback(host) and elsewhere is not None:
        raise InvalidInputError(
            f"{elsewhere} is a name for other machines, and no API token exists. Create one first: "
            "phaserunner tokens create NAME --role admin",
            field="ALLOWED_HOSTS",
        )
    if not is_loopback(host):
        raise InvalidInputError(
            f"{host} can be reached from other machines, and no API token exists. Create one first: "
            "phaserunner tokens create NAME --role admin",
            field="HOST",
        )


def host_name(host_header: str) -> str:
    """Return the name in a Host header, without port and brackets, in lower case."""
    return (urlsplit(f"//{host_header}").hostname or "").lower()


def host_allowed(host_header: str, further: Collection[str]) -> bool:
    """Return whether a request is addressed to this service; a rebound DNS name is not."""
    try:
        name = host_name(host_header)
    except ValueError:
        return False
    return name in LOOPBACK_NAMES or name in {each.lower() for each in further}


def origin_allowed(origin: str | None, host_header: str) -> bool:
    """Return whether a request comes from the service's pages, or from no page at all."""
    if origin is None:
        return True
    try:
        theirs = urlsplit(origin)
        ours = urlsplit(f"{theirs.scheme}://{host_header}")
        places = [(each.hostname, each.port or _STANDARD_PORTS.get(each.scheme)) for each in (theirs, ours)]
    except ValueError:  # the port is not a number, or a bracket is not closed
        return False
    return theirs.scheme in _STANDARD_PORTS and places[0] == places[1]
