"""What a program with a network reaches through the proxy, from inside the real sandbox and without it."""

import asyncio
import json
import os
import socket
import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from app.workspaces.confine import forwarder
from app.workspaces.confine.confinement import Network, SandboxSettings
from app.workspaces.confine.egress import EgressRefusedError, EgressRules, hosts_of, open_egress
from app.workspaces.confine.sandbox import Sandbox
from tests.patience import PATIENCE
from tests.unit.workspaces.confine.support import run_python

pytestmark = pytest.mark.anyio

ALLOWED = EgressRules(frozenset({"localhost"}))

FETCH = """
import json, urllib.error, urllib.request, os
os.environ["NO_PROXY"] = os.environ["no_proxy"] = ""
try:
    with urllib.request.urlopen({url!r}, timeout=20) as answer:
        print(json.dumps([answer.status, answer.read().decode()]))
except urllib.error.HTTPError as error:
    print(json.dumps([error.code, error.read().decode()]))
"""


@asynccontextmanager
async def origin() -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server on loopback that answers `hello`; gives its port and the heads of its requests."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heads


@pytest.fixture
async def allowing(sandbox: Sandbox) -> Sandbox:
    assert (await sandbox.state()).confined
    return Sandbox(SandboxSettings(egress=ALLOWED))


async def exchange(path: Path, request: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


async def test_an_allowed_host_is_reached_from_inside(allowing: Sandbox, place: Path) -> None:
    async with origin() as (port, heads):
        code = FETCH.format(url=f"http://localhost:{port}/a?b=c")
        outcome = await run_python(allowing, place, code, network=Network.PUBLIC)
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout) == [200, "hello"]
    assert heads[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "127.1", "0.0.0.0", "169.254.169.254", "10.0.0.1", "[::ffff:127.0.0.1]"]
)
async def test_addresses_that_are_not_public_are_refused_from_inside(
    allowing: Sandbox, place: Path, host: str
) -> None:
    async with origin() as (port, heads):
        code = FETCH.format(url=f"http://{host}:{port}/")
        outcome = await run_python(allowing, place, code, network=Network.PUBLIC)
    assert outcome.returncode == 0, outcome.stderr
    status, text = json.loads(outcome.stdout)
    assert status == 403
    assert "is not a public address" in text
    assert heads == []


async def test_a_program_keeps_its_status_and_its_input(allowing: Sandbox, place: Path) -> None:
    code = "import sys; print(sys.stdin.read()); sys.exit(7)"
    outcome = await run_python(allowing, place, code, network=Network.PUBLIC, stdin=b"given")
    assert (outcome.returncode, outcome.stdout) == (7, "given\n")


async def test_a_program_that_a_signal_ends_is_said_to_be_so(allowing: Sandbox, place: Path) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert (await run_python(allowing, place, code, network=Network.PUBLIC)).returncode == 137


async def test_a_tunnel_carries_bytes_both_ways() -> None:
    async with origin() as (port, _), open_egress(ALLOWED) as egress:
        tunnel = f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode()
        answer = await exchange(egress.path, tunnel + b"GET / HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert answer.endswith(b"hello")


async def test_a_name_that_leads_to_loopback_is_refused() -> None:
    async with origin() as (port, heads), open_egress(EgressRules()) as egress:
        answer = await exchange(egress.path, f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert heads == []


async def test_a_server_that_is_away_is_said() -> None:
    async with origin() as (port, _):
        pass
    async with open_egress(ALLOWED) as egress:
        answer = await exchange(egress.path, f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")


async def test_a_name_that_no_host_can_have_is_said() -> None:
    async with open_egress(EgressRules()) as egress:
        answer = await exchange(egress.path, b"CONNECT a..b:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"a..b is not a valid host name" in answer


async def test_the_proxy_of_the_machine_is_used_and_given_its_password() -> None:
    asked: list[bytes] = []

    async def upstream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nfrom afar")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(upstream, "127.0.0.1", 0)
    async with server:
        url = f"http://user:pass%20word@127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with open_egress(EgressRules(upstream=url)) as egress:
            answer = await exchange(egress.path, b"CONNECT pypi.invalid:443 HTTP/1.1\r\n\r\n")
    assert answer.endswith(b"from afar")
    assert asked[0].startswith(b"CONNECT pypi.invalid:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNzIHdvcmQ=\r\n" in asked[0]


@asynccontextmanager
async def broken_upstream(answer: bytes) -> AsyncGenerator[tuple[EgressRules, asyncio.Event, asyncio.Event]]:
    """A proxy of the machine that opens no tunnel; gives events: it was asked, and its connection ended."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        writer.write(answer)
        if answer:
            writer.write_eof()
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield EgressRules(upstream=f"http://127.0.0.1:{port}"), asked, ended


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param(b"HTTP/1.1 200 O", b"gave no complete answer", id="ends-early"),
        pytest.param(b"x" * 200_000, b"gave no complete answer", id="a-head-without-end"),
        pytest.param(b"HTTP/1.1 407 No\r\n\r\n", b"answered 407", id="refuses"),
        pytest.param(b"nonsense\r\n\r\n", b"answered \n", id="nonsense"),
    ],
)
async def test_a_proxy_of_the_machine_that_opens_no_tunnel_is_said(said: bytes, reason: bytes) -> None:
    async with broken_upstream(said) as (rules, _, ended), open_egress(rules) as egress:
        answer = await exchange(egress.path, b"CONNECT pypi.invalid:443 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
        assert b"OSError: the proxy of this machine " + reason in answer
        await asyncio.wait_for(ended.wait(), PATIENCE)


async def test_no_connection_to_the_proxy_of_the_machine_stays_open_if_the_wait_for_it_ends() -> None:
    async with broken_upstream(b"") as (rules, asked, ended):
        async with open_egress(rules) as egress:
            _, writer = await asyncio.open_unix_connection(egress.path)
            writer.write(b"CONNECT pypi.invalid:443 HTTP/1.1\r\n\r\n")
            await asyncio.wait_for(asked.wait(), PATIENCE)
        await asyncio.wait_for(ended.wait(), PATIENCE)
        writer.close()


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(b"\r\n\r\n", id="empty"),
        pytest.param(b"NONSENSE\r\n\r\n", id="no-request"),
        pytest.param(b"CONNECT nowhere HTTP/1.1\r\n\r\n", id="no-port"),
        pytest.param(b"CONNECT a:99999 HTTP/1.1\r\n\r\n", id="no-such-port"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no-host"),
        pytest.param(b"GET ftp://example.org/ HTTP/1.1\r\n\r\n", id="another-protocol"),
        pytest.param(b"GET http://\xff/ HTTP/1.1\r\n\r\n", id="no-text"),
        pytest.param(b"x" * 100_000, id="a-head-without-end"),
    ],
)
async def test_nonsense_is_refused_and_the_proxy_serves_on(request_: bytes) -> None:
    async with origin() as (port, _), open_egress(ALLOWED) as egress:
        answer = await exchange(egress.path, request_)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 403")
        assert b"hello" in await exchange(
            egress.path, f"GET http://localhost:{port}/ HTTP/1.1\r\nProxy-Authorization: x\r\n\r\n".encode()
        )


async def test_the_socket_belongs_to_one_user_and_is_gone_afterwards() -> None:
    async with open_egress(EgressRules()) as egress:
        assert stat.S_IMODE(os.stat(egress.path.parent).st_mode) == 0o700
    assert not egress.path.parent.exists()


def test_rules_name_the_host_that_is_refused() -> None:
    with pytest.raises(EgressRefusedError, match="intranet is not a public address"):
        EgressRules().check("intranet", "10.1.2.3")
    EgressRules(frozenset({"intranet"})).check("Intranet", "10.1.2.3")


def test_hosts_are_read_from_urls_and_names() -> None:
    words = ["https://user:secret@Index.example:8443/simple", "10.0.0.7", "intranet:8080", ""]
    assert hosts_of(words) == {"index.example", "10.0.0.7", "intranet"}


def test_a_connection_that_finds_no_room_ends_and_the_next_one_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "proxy"))
        server.listen()
        for place, start in (("proxy", refuse), ("nowhere", None)):
            if start is not None:
                monkeypatch.setattr(forwarder._thread, "start_new_thread", start)
            near, client = socket.socketpair()
            with client:
                forwarder._forward(near, str(tmp_path / place))
                assert client.recv(1) == b"", "the program sees at once that it must ask again"
