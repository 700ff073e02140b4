"""Prepares fetches from remote repositories: to a checked address, without a password on a command line."""

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from app.core.addresses import is_public
from app.core.credentials import SshKey
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.git import configuration_with
from app.workspaces.sources.inspection import SourcePolicy

_SSH = "ssh -oBatchMode=yes -oConnectTimeout=20"
# An ssh agent holds the key for this one connection and ends with it, or within ten seconds if all is killed.
# So the key is in no file and no argument.
_WITH_KEY = (
    """ssh-agent sh -c 'printf "%s\\n" "$SOURCE_KEY" | ssh-add -q - || """
    """{ echo "the secret of the credential is no private key without passphrase" >&2; exit 1; }; """
    """unset SOURCE_KEY; "$@"; code=$?; ssh-agent -k >/dev/null; exit $code' with-key """
)
# Nothing of the user's own ssh is used: no configuration, no other key, no host that is not in the file.
_ONLY_KEY = (
    "-Fnone -oIdentityFile=none -oPreferredAuthentications=publickey -oForwardAgent=no -oControlPath=none "
    "-oStrictHostKeyChecking=yes -oUpdateHostKeys=no -oGlobalKnownHostsFile=/dev/null"
)
_PORTS = {"https": 443, "http": 80, "ssh": 22}
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$SOURCE_USER" "$SOURCE_PASSWORD"; }; f'
)


@dataclass(frozen=True, slots=True)
class Remote:
    """One fetch: the URL for git, and the variables that belong to it."""

    url: str
    env: Mapping[str, str]


async def prepare_fetch(source: GitSource, transport_env: Mapping[str, str], policy: SourcePolicy) -> Remote:
    """Check the address behind a URL, remove its password, and add the credential that the source names.

    Other users of the machine can see command lines, but not the environment of a process.

    Raises:
        InvalidInputError: the host is not public, and private ones are not allowed; or its name is not valid;
            or the credential is not for this URL.
        UnavailableError: the secret of the credential is missing.
        WorkspaceError: the host has no address.
    """
    url, secrets = without_secret(source.url)
    settings = _helper_for(url) if secrets else {}
    ssh, allow_private = _SSH, policy.allow_private_urls
    if source.credential is not None:
        found = await policy.credentials.for_url(source.credential, source.url)
        if isinstance(found, SshKey):
            secrets, ssh = {"SOURCE_KEY": found.key}, _ssh_with(found)
        else:
            secrets = {"SOURCE_USER": found.username, "SOURCE_PASSWORD": found.secret}
            settings = _helper_for(url)
    place = host_and_port(source.url)
    if place is not None and not allow_private:
        host, port = place
        by_proxy = url.startswith("http") and proxy_of(transport_env) is not None
        address = await public_address(host, port, behind_proxy=by_proxy)
        # A redirect would lead to an unchecked address.
        settings["http.followRedirects"] = "false"
        if address is not None:
            # The name may resolve to another address when git looks it up.
            shown = f"[{address}]" if ":" in address else address
            settings["http.curloptResolve"] = f"{host}:{port}:{shown}"
            # This is the form in which ssh writes a host name into a known_hosts file.
            alias = host if port == _PORTS["ssh"] else f"'[{host}]:{port}'"
            ssh = f"{ssh} -oHostName={address} -oHostKeyAlias={alias}"
    protocols = ["https", "ssh", *(["file"] if policy.allow_file_urls else [])]
    if url.startswith("http:") and allow_private:
        protocols.append("http")
    env = {
        **transport_env,
        **secrets,
        **configuration_with(settings),
        "GIT_ALLOW_PROTOCOL": ":".join(protocols),
        "GIT_SSH_COMMAND": ssh,
        "GIT_SSH_VARIANT": "ssh",
    }
    return Remote(url, env)


def _ssh_with(key: SshKey) -> str:
    """Return the ssh command that uses a key from the environment."""
    return f"{_WITH_KEY}{_SSH} {_ONLY_KEY} -oUserKnownHostsFile='\"{key.known_hosts}\"'"


def _helper_for(url: str) -> dict[str, str]:
    """Let git ask for the secret for this host alone.

    Redirects are off, so the secret cannot go elsewhere.
    """
    parts = urlsplit(url)
    place = f"{parts.scheme}://{parts.netloc}"
    return {f"credential.{place}.helper": _HELPER, "http.followRedirects": "false"}


def without_secret(url: str) -> tuple[str, dict[str, str]]:
    """Remove user and password from an https URL. Return them as variables for the credential helper."""
    parts = urlsplit(url)
    if parts.scheme != "https" or "@" not in parts.netloc:
        return url, {}
    host = parts.netloc.rpartition("@")[2]
    secrets = {"SOURCE_USER": unquote(parts.username or ""), "SOURCE_PASSWORD": unquote(parts.password or "")}
    return urlunsplit(parts._replace(netloc=host)), secrets


def proxy_of(transport_env: Mapping[str, str]) -> str | None:
    """Return the URL of the proxy for https, or None."""
    return next((transport_env[name] for name in _PROXIES if transport_env.get(name)), None)


def host_and_port(url: str) -> tuple[str, int] | None:
    """Return the host and port of a URL, or None for a file.

    Raises:
        InvalidInputError: the port is not a number.
    """
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


async def public_address(host: str, port: int, *, behind_proxy: bool) -> str | None:
    """Return an address of a host with only public addresses. Return None if only the proxy knows the name.

    Raises:
        InvalidInputError: an address is not public, or no host can have this name.
        WorkspaceError: the host has no address.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # such as a name with an empty part, or with one of more than 63 characters
        raise InvalidInputError(f"{host} is not a valid host name", field="source.url") from error
    except OSError as error:
        if behind_proxy:
            return None  # the proxy may know names that this machine does not
        raise WorkspaceError(f"{host} cannot be looked up", field="source.url") from error
    addresses = [str(each[4][0]) for each in found]
    if not all(is_public(each) for each in addresses):
        raise InvalidInputError(
            f"{host} is not a public address; WORKSPACE_ALLOW_PRIVATE_URLS=true allows it", field="source.url"
        )
    return addresses[0]
