"""Credentials by name: a request names one, and the operator defines its secret and its use."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.core.credential_urls import begins_with
from app.core.errors import InvalidInputError, UnavailableError

DEFAULT_USERNAME = "x-access-token"
"""The user name that GitHub expects with a token; other forges ignore it."""

_MAX_SECRET_BYTES = 65_536


Exchange = Callable[[str], Awaitable[str]]
"""Returns a short-lived secret for a lasting one, such as a private key."""


@dataclass(frozen=True, slots=True)
class Login:
    """A user name and a secret, which is not part of the representation."""

    username: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SshKey:
    """A private key, which is not part of the representation, and the file of known host keys."""

    key: str = field(repr=False)
    known_hosts: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPlace:
    """Where a secret is: in an environment variable or in a file. It is read each time it is used."""

    variable: str | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRule:
    """One credential.

    Attributes:
        place: where its secret is.
        urls: beginnings of the URLs that may get it, such as `https://github.com/acme/`.
        username: the user name that goes with the secret.
        exchange: turns the stored secret into the one to use; None uses the stored one itself.
        known_hosts: file with the keys of ssh servers; the secret is then a private key for these servers.
    """

    place: SecretPlace
    urls: tuple[str, ...] = ()
    username: str = DEFAULT_USERNAME
    exchange: Exchange | None = None
    known_hosts: Path | None = None


class Credentials:
    """Looks credentials up by name.

    Args:
        rules: the credentials, by name.
        environ: the environment variables that may hold secrets.
    """

    def __init__(
        self, rules: Mapping[str, CredentialRule] | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._rules = dict(rules or {})
        self._environ = environ or {}

    async def for_url(self, name: str, url: str, field: str = "source.credential") -> Login | SshKey:
        """Return a credential for a URL that a client named.

        Raises:
            InvalidInputError: there is no such credential, or it must not be used for the URL.
            UnavailableError: its secret is not where the operator's file says, or cannot be exchanged.
        """
        rule = self._rule(name, field)
        if not any(begins_with(url, each) for each in rule.urls):
            raise InvalidInputError(
                f"the credential {name!r} is not for this URL; its urls in FORGES_FILE say which it is for",
                field=field,
            )
        if rule.known_hosts is not None:
            key, _ = self._text(rule.place, f"the credential {name!r}")
            return SshKey(key.replace("\r\n", "\n"), rule.known_hosts)
        return await self.login(name, field)

    def is_for(self, name: str, url: str) -> bool:
        """Return whether a credential of this name exists and may be used for the URL."""
        rule = self._rules.get(name)
        return rule is not None and any(begins_with(url, each) for each in rule.urls)

    async def login(self, name: str, field: str = "source.credential") -> Login:
        """Return a credential for a URL that the operator named.

        Raises:
            InvalidInputError: there is no such credential.
            UnavailableError: its secret is not where the operator's file says, or cannot be exchanged.
        """
        rule = self._rule(name, field)
        what = f"the credential {name!r}"
        if rule.exchange is not None:
            text, _ = self._text(rule.place, what)
            return Login(rule.username, await rule.exchange(text))
        return Login(rule.username, self.secret(rule.place, what))

    def secret(self, place: SecretPlace, what: str) -> str:
        """Read a secret; `what` is its name in errors.

        Raises:
            UnavailableError: the secret is missing or empty, or has more than one line.
        """
        text, where = self._text(place, what)
        if not text.isprintable():
            raise UnavailableError(f"{what} cannot be used: {where} holds more than one line of text")
        return text

    def _text(self, place: SecretPlace, what: str) -> tuple[str, str]:
        """Read a secret, which may have several lines; return it with the name of its place in errors."""
        if place.variable is not None:
            text, where = self._environ.get(place.variable, ""), f"the variable {place.variable}"
        else:
            text, where = _read(place.file or Path(), what), str(place.file)
        if not text.strip():
            raise UnavailableError(f"{what} has no secret: {where} is empty or not set")
        return text.strip(), where

    def _rule(self, name: str, field: str) -> CredentialRule:
        rule = self._rules.get(name)
        if rule is None:
            raise InvalidInputError(f"there is no credential {name!r} in FORGES_FILE", field=field)
        return rule


NO_CREDENTIALS = Credentials()
"""The credentials of a service whose operator defines none."""


def _read(path: Path, what: str) -> str:
    try:
        with path.open("rb") as handle:
            content = handle.read(_MAX_SECRET_BYTES + 1)
    except OSError as error:
        raise UnavailableError(f"{what} has no secret: {path} cannot be read: {error.strerror}") from error
    if len(content) > _MAX_SECRET_BYTES:
        raise UnavailableError(f"{what} cannot be used: {path} is longer than {_MAX_SECRET_BYTES:,} bytes")
    return content.decode("utf-8", "replace")
