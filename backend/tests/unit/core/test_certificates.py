"""Tests of the authorities: all clients share what is read once."""

import ssl
from collections.abc import Callable

import httpx
import pytest

from app.core.certificates import trusted_authorities
from app.forges.rest import forge_client
from app.notifications.sending import chat_client


def test_servers_are_verified() -> None:
    context = trusted_authorities()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context is trusted_authorities()


@pytest.mark.anyio
@pytest.mark.parametrize("open_client", [forge_client, chat_client])
async def test_a_client_reads_no_authorities_of_its_own(
    open_client: Callable[[], httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted_authorities()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the authorities are read again")

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", refuse)
    async with open_client() as client:
        assert not client.is_closed
