"""Checks what leads to the service: its address, the token, and the machine's proxies and certificates."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from app.cli.exits import CliError
from app.cli.view.text import one_line

_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SENDABLE = re.compile(r"[!-~]+")
_PROXIES = ("all", "http", "https")


def bearer(token: str) -> str:
    """Return the header that carries a token.

    Raises:
        CliError: no header can carry it.
    """
    if not _SENDABLE.fullmatch(token):
        raise CliError(
            "--token or PHASERUNNER_TOKEN: holds a character that no token has, such as a blank or é"
        )
    return f"Bearer {token}"


def http_client(
    url: str, headers: Mapping[str, str], transport: httpx.AsyncBaseTransport | None
) -> httpx.AsyncClient:
    """Return a client for the service at `url`; without `transport`, over the network.

    Raises:
        CliError: the address is not valid, or the machine's proxies or certificates cannot be used. The
            message names the option or the variable.
    """
    scheme, host = _parts(url)
    # A proxy for the internet cannot reach this machine.
    is_apart = host not in _LOOPBACK
    try:
        return httpx.AsyncClient(
            base_url=url,
            headers=headers,
            timeout=_TIMEOUT,
            transport=transport,
            # Without TLS there is nothing to verify, and reading the certificates takes a tenth of the
            # start-up time.
            verify=scheme == "https",
            trust_env=is_apart,
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise CliError(_unusable_proxy(error)) from error
    except OSError as error:
        raise CliError(f"SSL_CERT_FILE or SSL_CERT_DIR: {one_line(str(error))}") from error


def _parts(url: str) -> tuple[str, str]:
    """Return scheme and host, after a look at everything in the address that a request would fail on."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme in ("http", "https") and parts.port != 0 and httpx.URL(url).host:
            return parts.scheme, host
    except (ValueError, httpx.InvalidURL):
        pass
    given = f"--url or PHASERUNNER_URL: {one_line(url)}"
    raise CliError(f"{given} is not an address such as http://127.0.0.1:8000")


def _unusable_proxy(error: Exception) -> str:
    """Return which variable names a proxy that the library refuses, and why."""
    proxies = getproxies()
    for name in _PROXIES:
        if proxy := proxies.get(name):
            try:
                httpx.AsyncHTTPTransport(proxy=proxy if "://" in proxy else f"http://{proxy}", verify=False)
            except (ImportError, ValueError, httpx.InvalidURL) as fault:
                return f"{name.upper()}_PROXY: {one_line(str(fault))}"
    return f"NO_PROXY: {one_line(str(error))}"
