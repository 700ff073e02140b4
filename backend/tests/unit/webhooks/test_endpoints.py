"""Which addresses messages may go to."""

import pytest

from app.core.addresses import is_public
from app.core.errors import InvalidInputError
from app.webhooks.endpoints import read_endpoints

ADDRESSES = {
    "public": ("93.184.216.34", True),
    "public, version 6": ("2606:2800:220:1::1", True),
    "loopback": ("127.0.0.1", False),
    "loopback, version 6": ("::1", False),
    "private": ("10.1.2.3", False),
    "link-local: a cloud's metadata": ("169.254.169.254", False),
    "the host of a virtual machine in Azure": ("168.63.129.16", False),
    "the same, mapped": ("::ffff:168.63.129.16", False),
    "with a zone": ("fe80::1%eth0", False),
    "private, mapped": ("::ffff:192.168.0.1", False),
    "private, 6to4": ("2002:7f00:1::", False),
    "private, in a network's NAT64": ("64:ff9b:1::a00:1", False),
    "public, in the common NAT64": ("64:ff9b::5db8:d822", True),
    "loopback, compatible with version 4": ("::127.0.0.1", False),
    "of a site": ("fec0::1", False),
    "unspecified": ("0.0.0.0", False),
    "multicast": ("224.0.0.1", False),
    "shared": ("100.64.0.1", False),
}


@pytest.mark.parametrize(("address", "public"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


REFUSED = {
    "http": "http://hooks.example.org/a",
    "another scheme": "ftp://hooks.example.org",
    "no host": "https:///a",
    "no URL": "https://[::1",
    "a password": "https://ada:secret@hooks.example.org",
    "loopback": "https://127.0.0.1/a",
    "version 6": "https://[::1]/a",
    "an empty part of a name": "https://hooks..example.org/a",
    "a name that begins with a dot": "https://.example.org/a",
    "a part of 64 characters": f"https://{'a' * 64}.example.org/a",
}


@pytest.mark.parametrize("url", REFUSED.values(), ids=REFUSED.keys())
def test_refused(url: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        read_endpoints([url], allow_private=False)
    assert raised.value.field == "WEBHOOK_URLS"


def test_allowed() -> None:
    url = "https://hooks.example.org/a?b=c"
    assert read_endpoints([url, url], allow_private=False) == (url,)
    local = "http://127.0.0.1:9000/a"
    assert read_endpoints([local], allow_private=True) == (local,)
    with pytest.raises(InvalidInputError):
        read_endpoints([REFUSED["a password"]], allow_private=True)
    with pytest.raises(InvalidInputError, match=r"'hooks\.\.example\.org' is not a valid host name"):
        read_endpoints([REFUSED["an empty part of a name"]], allow_private=True)
