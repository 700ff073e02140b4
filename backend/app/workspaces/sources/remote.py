"""How a remote repository is fetched: from a checked address, with no password on a command line."""

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from app.core.addresses import is_public
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import configuration_with

_SSH = "ssh -oBatchMode=yes -oConnectTimeout=20"
_PORTS = {"https": 443, "ssh": 22}
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$SOURCE_USER" "$SOURCE_PASSWORD"; }; f'
)


@dataclass(frozen=True, slots=True)
class Remote:
    """One fetch: the URL that git is given, and the variables that go with it."""

    url: str
    env: Mapping[str, str]


async def prepare_fetch(
    source: GitSource, transport_env: Mapping[str, str], *, allow_private: bool, allow_files: bool
) -> Remote:
    """Check where a URL leads, and take its password out of it.

    Other users of the machine see command lines, but not the environment of a process.

    Raises:
        InvalidInputError: the host is not public, and private ones are not allowed.
        WorkspaceError: the host has no address.
    """
    url, secrets = _without_secret(source.url)
    settings = {} if not secrets else {"credential.helper": _HELPER}
    ssh = _SSH
    place = _host_and_port(source.url)
    if place is not None and not allow_private:
        host, port = place
        address = await _public_address(host, port, behind_proxy=any(transport_env.get(n) for n in _PROXIES))
        # A redirect would lead to an address that was not looked at.
        settings["http.followRedirects"] = "false"
        if address is not None:
            # The name may have another address by the time that git asks.
            shown = f"[{address}]" if ":" in address else address
            settings["http.curloptResolve"] = f"{host}:{port}:{shown}"
            ssh = f"{_SSH} -oHostName={address} -oHostKeyAlias={host}"
    env = {
        **transport_env,
        **secrets,
        **configuration_with(settings),
        "GIT_ALLOW_PROTOCOL": "https:ssh:file" if allow_files else "https:ssh",
        "GIT_SSH_COMMAND": ssh,
    }
    return Remote(url, env)


def _without_secret(url: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(url)
    if parts.scheme != "https" or "@" not in parts.netloc:
        return url, {}
    host = parts.netloc.rpartition("@")[2]
    secrets = {"SOURCE_USER": unquote(parts.username or ""), "SOURCE_PASSWORD": unquote(parts.password or "")}
    return urlunsplit(parts._replace(netloc=host)), secrets


def _host_and_port(url: str) -> tuple[str, int] | None:
    parts = urlsplit(url)
    if parts.scheme in _PORTS and parts.hostname:
        try:
            return parts.hostname, parts.port or _PORTS[parts.scheme]
        except ValueError as error:
            raise InvalidInputError(
                f"the port of the URL is no number: {error}", field="source.url"
            ) from error
    if "://" not in url and "@" in url:
        return url.partition("@")[2].partition(":")[0], 22
    return None


async def _public_address(host: str, port: int, *, behind_proxy: bool) -> str | None:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        if behind_proxy:
            return None  # the proxy knows names that this machine does not
        raise WorkspaceError(f"{host} cannot be looked up", field="source.url") from error
    addresses = [str(each[4][0]) for each in found]
    if not all(is_public(each) for each in addresses):
        raise InvalidInputError(
            f"{host} is not a public address; WORKSPACE_ALLOW_PRIVATE_URLS=true allows it", field="source.url"
        )
    return addresses[0]
