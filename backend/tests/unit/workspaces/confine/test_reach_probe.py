"""The probe of what agents reach takes neither its own end nor the way to the proxy for the outside."""

import socket

import pytest

from tests import reach_probe


def test_a_connection_to_itself_reaches_nothing() -> None:
    with socket.socket() as both_ends:
        both_ends.bind(("127.0.0.1", 0))
        both_ends.connect(both_ends.getsockname())
        assert reach_probe.is_of_this_place(both_ends)


def test_the_way_to_the_proxy_is_not_outside_and_another_port_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        assert reach_probe.direct(host, str(port)) == "connected"
        monkeypatch.setenv("http_proxy", f"http://{host}:{port}")
        assert reach_probe.direct(host, str(port)) == "refused"
