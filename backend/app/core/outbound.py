"""How this process and its programs reach other machines: proxy and trusted authorities.

Git, uv, npm, pip and the libraries for HTTP each read different variables. One setting becomes all of them.
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
    """What the operator says of the way to other machines.

    Attributes:
        ca_bundle: a PEM file with every authority to trust; None leaves it to each program.
        proxy: URL of an HTTP proxy; None leaves the environment's.
        no_proxy: hosts that are reached without it; this machine always is.
    """

    ca_bundle: Path | None = None
    proxy: str | None = None
    no_proxy: Sequence[str] = ()

    def variables(self) -> dict[str, str]:
        """Return the environment variables that tell every program.

        Raises:
            InvalidInputError: the bundle cannot be used, or the proxy's URL; the error names the setting.
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
        """Put the variables into the environment of this process; they take the place of what is there.

        Raises:
            InvalidInputError: as `variables`.
        """
        environ.update(self.variables())


def authorities(bundle: Path) -> int:
    """Return how many authorities a PEM file names.

    Raises:
        InvalidInputError: it cannot be read, or names none.
    """
    import ssl  # noqa: PLC0415 - only with a bundle: keeps the start of every command quick

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
        InvalidInputError: it is not like `http://proxy.example:3128`; the message holds no password.
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
    """Some programs read only one of the two; an older value in the other must not contradict."""
    return {each: value for name in names for each in (name, name.lower())}
