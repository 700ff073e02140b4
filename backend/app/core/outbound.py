"""How this process and its programs reach other machines: proxy and trusted certificate authorities.

Git, uv, npm, pip and the HTTP libraries each read different variables. One setting sets all of them.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from app.core.errors import InvalidInputError

_FOR_AUTHORITIES = (
    *("SSL_CERT_FILE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "PIP_CERT"),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CARGO_HTTP_CAINFO"),
)
_FOR_PROXY = ("HTTP_PROXY", "HTTPS_PROXY")
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_PORTS = range(1, 65_536)


@dataclass(frozen=True, slots=True)
class Outbound:
    """The operator's settings for connections to other machines.

    Attributes:
        ca_bundle: a PEM file with all trusted authorities; None leaves the choice to each program.
        proxy: URL of an HTTP proxy; None leaves the environment's.
        no_proxy: hosts that are reached without the proxy, in addition to this machine.
    """

    ca_bundle: Path | None = None
    proxy: str | None = None
    no_proxy: Sequence[str] = ()

    def variables(self) -> dict[str, str]:
        """Return the environment variables that configure every program.

        Raises:
            InvalidInputError: the bundle or the proxy's URL cannot be used; the error names the setting.
        """
        found: dict[str, str] = {}
        if self.ca_bundle is not None:
            bundle = self.ca_bundle.expanduser().absolute()
            authorities(bundle)
            found |= dict.fromkeys(_FOR_AUTHORITIES, str(bundle))
        if self.proxy is not None:
            check_proxy(self.proxy)
            found |= _in_both_cases(_FOR_PROXY, self.proxy)
        if self.proxy is not None or self.no_proxy:
            found |= _in_both_cases(("NO_PROXY",), ",".join((*_THIS_MACHINE, *self.no_proxy)))
        return found

    def apply(self, environ: MutableMapping[str, str]) -> None:
        """Set the variables in the environment of this process, replacing existing values.

        Raises:
            InvalidInputError: as `variables`.
        """
        environ.update(self.variables())


def authorities(bundle: Path) -> int:
    """Return how many authorities a PEM file contains.

    Raises:
        InvalidInputError: the file cannot be read, or contains none.
    """
    import ssl  # noqa: PLC0415 - only with a bundle, so that commands start quickly

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cafile=bundle.expanduser())
    except (ssl.SSLError, ValueError) as error:
        told = f"{bundle} holds no certificates in PEM format"
        raise InvalidInputError(told, field="CA_BUNDLE") from error
    except OSError as error:
        told = f"{bundle} cannot be read: {error.strerror}"
        raise InvalidInputError(told, field="CA_BUNDLE") from error
    count = context.cert_store_stats()["x509_ca"]
    if not count:
        raise InvalidInputError(f"{bundle} names no authority", field="CA_BUNDLE")
    return count


def check_proxy(url: str) -> None:
    """Check the URL of a proxy.

    Raises:
        InvalidInputError: it does not look like `http://proxy.example:3128`; the
            message contains no password.
    """
    told = "give a URL such as http://proxy.example:3128"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 80) in _PORTS
    except ValueError as error:
        raise InvalidInputError(told, field="OUTBOUND_PROXY") from error
    if not usable:
        raise InvalidInputError(told, field="OUTBOUND_PROXY")


def shown_proxy(url: str) -> str:
    """Return the URL of a proxy without user and password."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _in_both_cases(names: Sequence[str], value: str) -> Mapping[str, str]:
    """Return the variables in both cases: some programs read only one, and the other must not contradict."""
    return {each: value for name in names for each in (name, name.lower())}
