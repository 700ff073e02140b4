"""Where the service may listen, and which hosts and origins it takes requests from."""

import pytest

from app.core.errors import InvalidInputError
from app.core.security import (
    Role,
    digest_of,
    host_allowed,
    is_loopback,
    new_token,
    origin_allowed,
    require_safe_binding,
)

BINDINGS = {
    "loopback": ("127.0.0.1", False, True),
    "loopback by name": ("localhost", False, True),
    "another address of loopback": ("127.8.8.8", False, True),
    "IPv6 loopback": ("::1", False, True),
    "everywhere": ("0.0.0.0", False, False),
    "everywhere, IPv6": ("::", False, False),
    "a name nobody knows": ("tea.example", False, False),
    "everywhere with tokens": ("0.0.0.0", True, True),
}


@pytest.mark.parametrize(("host", "tokens", "allowed"), BINDINGS.values(), ids=BINDINGS.keys())
def test_bindings(host: str, tokens: bool, allowed: bool) -> None:
    if allowed:
        require_safe_binding(host, tokens_exist=tokens)
        return
    assert not is_loopback(host)
    with pytest.raises(InvalidInputError, match="phaserunner tokens create") as raised:
        require_safe_binding(host, tokens_exist=tokens)
    assert raised.value.field == "HOST"


def test_each_role_includes_those_before() -> None:
    allowed = {role.value: [other.value for other in Role if role.includes(other)] for role in Role}
    assert allowed == {
        "viewer": ["viewer"],
        "operator": ["viewer", "operator"],
        "reviewer": ["viewer", "operator", "reviewer"],
        "admin": ["viewer", "operator", "reviewer", "admin"],
    }


def test_tokens_differ_and_their_digests_tell_nothing() -> None:
    one, other = new_token(), new_token()
    assert one != other
    assert len(one) > 40
    assert digest_of(one) == digest_of(one) != digest_of(other)


ORIGINS = {
    "no page": (None, "127.0.0.1:8000", True),
    "the same": ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
    "behind a proxy that ends TLS": ("https://tea.example", "tea.example", True),
    "a standard port that is named": ("https://tea.example", "tea.example:443", True),
    "upper case": ("http://TEA.example", "tea.EXAMPLE", True),
    "another port": ("http://127.0.0.1:8001", "127.0.0.1:8000", False),
    "a port that is no number": ("http://127.0.0.1:x", "127.0.0.1:8000", False),
    "null": ("null", "127.0.0.1:8000", False),
    "empty": ("", "", False),
    "a file": ("file://", "", False),
}


@pytest.mark.parametrize(("origin", "host", "allowed"), ORIGINS.values(), ids=ORIGINS.keys())
def test_origins(origin: str | None, host: str, allowed: bool) -> None:
    assert origin_allowed(origin, host) is allowed


HOSTS = {
    "loopback": ("127.0.0.1:8000", True),
    "an allowed name": ("tea.example", True),
    "below an allowed name": ("x.tea.example", False),
    "nothing": ("", False),
    "brackets left open": ("[::1", False),
}


@pytest.mark.parametrize(("host", "allowed"), HOSTS.values(), ids=HOSTS.keys())
def test_hosts(host: str, allowed: bool) -> None:
    assert host_allowed(host, ["Tea.Example"]) is allowed


def test_a_name_for_other_machines_needs_a_token() -> None:
    require_safe_binding("127.0.0.1", ["localhost", "127.0.0.1"], tokens_exist=False)
    require_safe_binding("127.0.0.1", ["tea.example"], tokens_exist=True)
    with pytest.raises(InvalidInputError, match=r"tea\.example is a name for other machines") as raised:
        require_safe_binding("127.0.0.1", ["localhost", "tea.example"], tokens_exist=False)
    assert raised.value.field == "ALLOWED_HOSTS"
