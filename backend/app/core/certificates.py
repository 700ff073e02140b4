"""The certificate authorities that this process trusts."""

import ssl
from functools import cache

import httpx


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Return the context that verifies servers, with the authorities of the environment at the first call.

    Every client shares it: reading the authorities takes 30 ms of a processor, more than most requests.
    """
    return httpx.create_ssl_context()
