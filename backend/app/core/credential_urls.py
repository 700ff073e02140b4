"""Compares the URL of a repository with the URLs for which a credential may be used."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_PORTS = {"https": 443, "http": 80, "ssh": 22}
_SCP_LIKE = re.compile(r"(?P<user>\w[\w.+-]*)@(?P<host>\w[\w.-]*):(?P<path>[^\s:-][^\s:]*)")
_RELATIVE = "ssh, relative"
"""The scheme of `user@host:path`: its path starts at the user's home, that of `ssh://` at the root."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The parts of a URL: `server` is scheme, user, host and port; `path` the parts of the path."""

    server: tuple[str, str, str, int | None]
    path: list[str]


def is_ssh(url: str) -> bool:
    """Return whether git reaches a URL through ssh."""
    return url.startswith("ssh://") or _SCP_LIKE.fullmatch(url) is not None


def can_be_beginning(url: str) -> bool:
    """Return whether a URL can begin with this; a credential for any other text would match nothing."""
    return _place(url) is not None


def begins_with(url: str, beginning: str) -> bool:
    """Return whether two URLs agree in scheme, user, host and port, and in the leading parts of the path.

    A path with `..` or `~`, and a URL with a password, never match.
    """
    here, there = _place(url), _place(beginning)
    if here is None or there is None or here.server != there.server:
        return False
    return here.path[: len(there.path)] == there.path


def _place(url: str) -> _Place | None:
    scp_like = _SCP_LIKE.fullmatch(url)
    if scp_like is not None:
        scheme = "ssh" if scp_like["path"].startswith("/") else _RELATIVE
        server = (scheme, scp_like["user"], scp_like["host"].lower(), _PORTS["ssh"])
        return _at(server, scp_like["path"], url)
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.query:
        return None
    # Over ssh, the user is part of the place; with other schemes, neither a user nor a password is allowed.
    is_named = bool(parts.username) and parts.password is None
    if not is_named if parts.scheme == "ssh" else "@" in parts.netloc:
        return None
    return _at((parts.scheme, parts.username or "", parts.hostname, port), parts.path, url)


def _at(server: tuple[str, str, str, int | None], path: str, url: str) -> _Place | None:
    names = [each for each in path.split("/") if each]
    climbs = bool({".", ".."} & set(names)) or any(each.startswith("~") for each in names)
    if climbs or "%" in path or "\\" in url:
        return None
    return _Place(server, [each.removesuffix(".git") for each in names])
