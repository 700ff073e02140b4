"""Decides which addresses messages may go to: public ones over https, unless the operator allows others."""

from collections.abc import Sequence

import httpx

from app.core.addresses import can_be_host, is_public
from app.core.errors import InvalidInputError

_FIELD = "WEBHOOK_URLS"


def read_endpoints(urls: Sequence[str], *, allow_private: bool) -> tuple[str, ...]:
    """Return the configured addresses, without repeats.

    Raises:
        InvalidInputError: an address is not https, is private, contains a password, or has a host that cannot
            be looked up.
    """
    return tuple(dict.fromkeys(_checked(each, allow_private=allow_private) for each in urls))


def _checked(text: str, *, allow_private: bool) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise InvalidInputError(f"{text!r} is not a URL: {error}", field=_FIELD) from error
    schemes = ("https", "http") if allow_private else ("https",)
    if url.scheme not in schemes or not url.host:
        more = "" if allow_private else "; WEBHOOK_ALLOW_PRIVATE=true allows http and private addresses"
        raise InvalidInputError(f"{text!r} does not begin with https://{more}", field=_FIELD)
    if not can_be_host(url.host):
        raise InvalidInputError(f"{url.host!r} is not a valid host name", field=_FIELD)
    if url.userinfo:
        raise InvalidInputError("give no user or password in a URL: messages are signed", field=_FIELD)
    if not allow_private and _is_private_literal(url.host):
        raise InvalidInputError(
            f"{url.host} is not a public address; WEBHOOK_ALLOW_PRIVATE=true allows it", field=_FIELD
        )
    return text


def _is_private_literal(host: str) -> bool:
    try:
        return not is_public(host)
    except ValueError:
        return False  # a name, whose addresses are checked when a message is sent
