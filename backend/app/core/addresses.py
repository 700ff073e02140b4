"""Tells which network addresses are public, and which names a host can have.

Untrusted programs may connect to public addresses only.
"""

import ipaddress

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NEVER = tuple(map(ipaddress.ip_network, ("::/96", "64:ff9b:1::/48", "fec0::/10")))
"""IPv4-compatible addresses, the prefix of a network's private NAT64, and site-local addresses."""

_AZURE = ipaddress.ip_address("168.63.129.16")
"""Leads to the host of a virtual machine in Azure, which gives out the machine's settings."""


def is_public(address: str) -> bool:
    """Return whether an address is reachable from anywhere; one that embeds an IPv4 address counts as it.

    Raises:
        ValueError: this is not an IP address.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found in _NAT64:
            found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        elif any(found in each for each in _NEVER):
            return False
        else:
            found = found.ipv4_mapped or found.sixtofour or found
    return found.is_global and not found.is_multicast and found != _AZURE


def can_be_host(name: str) -> bool:
    """Return whether a name can be looked up: it has no empty part, and none of more than 63 characters."""
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return True
