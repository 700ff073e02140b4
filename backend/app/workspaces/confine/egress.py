"""The network access of confined programs: an HTTP proxy that reaches public addresses only.

A confined program has a network namespace with only a loopback. Its way out is a unix socket to this proxy,
which runs in the service's process. The proxy resolves names itself, connects to the address that it checked,
and refuses loopback, private, link-local and reserved addresses. So a program can reach package registries
and model providers, but not the service, its database or the network around it.
"""

import asyncio
import os
import socket
import tempfile
from base64 import b64encode
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from app.core.addresses import is_public

FORWARDER = Path(__file__).with_name("forwarder.py")
"""The program that starts inside the sandbox and connects its loopback to the proxy's socket."""

_HEAD_BYTES = 65_536
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 30.0
_CHUNK = 65_536
_HOP_BY_HOP = (b"proxy-authorization:", b"proxy-connection:", b"connection:", b"keep-alive:")

Target = tuple[str, int]
"""Host name or address, and port."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class EgressRefusedError(Exception):
    """A connection is not allowed. The program gets the message."""


@dataclass(frozen=True, slots=True)
class EgressRules:
    """What a program with a network may reach besides public addresses.

    Attributes:
        allowed: hosts, as names or addresses, that it may reach on any port although their addresses are not
            public, such as the operator's package index.
        upstream: URL of the proxy through which this machine reaches others; None if it needs none.
    """

    allowed: frozenset[str] = frozenset()
    upstream: str | None = None

    def check(self, host: str, address: str) -> None:
        """Refuse an address that is not public, unless its host is allowed.

        Raises:
            EgressRefusedError: the address may not be reached.
        """
        if host.lower().strip("[]") not in self.allowed and not is_public(address):
            raise EgressRefusedError(f"{host} is not a public address")


def forwarding(python: Path, port: int, path: Path, argv: Sequence[str]) -> list[str]:
    """Return the command line that forwards a loopback port to a socket and runs `argv`."""
    return [str(python), "-I", "-S", "-B", str(FORWARDER), str(port), str(path), *argv]


@dataclass(frozen=True, slots=True)
class Egress:
    """An open proxy for one launch.

    Attributes:
        path: the proxy's unix socket.
    """

    path: Path

    def command_line(self, python: Path, argv: Sequence[str], port: int = 0) -> list[str]:
        """Return the command line that forwards to the proxy and runs `argv` with the proxy's variables.

        Args:
            python: the interpreter that runs the forwarder.
            argv: the program and its arguments.
            port: port on the loopback; 0 is any.
        """
        return forwarding(python, -port, self.path, argv)


@asynccontextmanager
async def open_egress(rules: EgressRules, owner: int | None = None) -> AsyncGenerator[Egress]:
    """Run a proxy for one launch. Connections that are still open end with the block.

    Args:
        rules: what may be reached.
        owner: number of the user that may connect; None is this process's user.
    """
    proxy = _Proxy(rules)
    with tempfile.TemporaryDirectory(prefix="phaserunner-egress-") as directory:
        path = Path(directory) / "proxy"
        server = await asyncio.start_unix_server(proxy.serve, path, limit=_HEAD_BYTES)
        if owner is not None:
            os.chown(directory, owner, owner)
            os.chown(path, owner, owner)
        try:
            yield Egress(path)
        finally:
            server.close()
            await proxy.close()


class _Proxy:
    """Serves the connections of one launch."""

    def __init__(self, rules: EgressRules) -> None:
        self._rules = rules
        self._connections: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - the server runs this in a task
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # The program went away or did not speak HTTP. No other connection is affected.
        finally:
            self._connections.discard(task)
            writer.close()

    async def close(self) -> None:
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        method, target, version = head.split(b"\r\n", 1)[0].split(b" ")
        try:
            if method == b"CONNECT":
                far = await self._connect(_authority(target.decode("ascii")))
                writer.write(version + b" 200 Connection established\r\n\r\n")
            else:
                place, path = _absolute(target.decode("ascii"))
                far = await self._connect(place)
                far[1].write(_forwarded(head, method, path, version))
        except EgressRefusedError as error:
            await _answer(writer, 403, "Forbidden", str(error))
            return
        except (OSError, TimeoutError) as error:
            await _answer(writer, 502, "Bad Gateway", f"{type(error).__name__}: {error}")
            return
        await _pump(reader, writer, *far)

    async def _connect(self, target: Target) -> Streams:
        host, port = target
        async with asyncio.timeout(_CONNECT_SECONDS):
            addresses = await self._checked_addresses(host, port)
            if self._rules.upstream is not None:
                return await _through(self._rules.upstream, target)
            error: OSError | None = None
            for address in addresses:
                try:
                    return await asyncio.open_connection(address, port)
                except OSError as failure:
                    error = failure
        raise error or OSError(f"{host} has no address")

    async def _checked_addresses(self, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror:
            if self._rules.upstream is None:
                raise
            return []  # This machine's proxy may know names that the machine itself does not.
        except UnicodeError as error:
            raise OSError(f"{host} is not a valid host name") from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        for address in addresses:
            self._rules.check(host, address)
        return addresses


async def _through(upstream: str, target: Target) -> Streams:
    """Open a tunnel through this machine's proxy.

    Raises:
        OSError: the proxy cannot be reached, or opens no tunnel.
    """
    proxy = urlsplit(upstream)
    streams = await asyncio.open_connection(proxy.hostname, proxy.port or 80)
    try:
        await _ask_for_tunnel(*streams, proxy, target)
    except BaseException:  # a time-out, too, must not leave the connection open
        streams[1].close()
        raise
    return streams


async def _ask_for_tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: SplitResult, target: Target
) -> None:
    host, port = f"[{target[0]}]" if ":" in target[0] else target[0], target[1]
    lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}"]
    if proxy.username:
        user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {b64encode(user.encode()).decode()}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise OSError("the proxy of this machine gave no complete answer") from error
    status = head.split(b" ", 2)[1] if head.count(b" ") else b""
    if status != b"200":
        raise OSError(f"the proxy of this machine answered {status.decode('ascii', 'replace')}")


def _authority(text: str) -> Target:
    place = urlsplit(f"//{text}")
    if not place.hostname or not place.port:
        raise ValueError(text)
    return place.hostname, place.port


def _absolute(text: str) -> tuple[Target, str]:
    url = urlsplit(text)
    if url.scheme != "http" or not url.hostname:
        raise EgressRefusedError("only http and https are forwarded")
    path = url.path or "/"
    return (url.hostname, url.port or 80), f"{path}?{url.query}" if url.query else path


def _forwarded(head: bytes, method: bytes, path: str, version: bytes) -> bytes:
    """Return the request in the form for an origin server, with one request per connection."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")[1:]
    kept = [line for line in lines if not line.lower().startswith(_HOP_BY_HOP)]
    return b"\r\n".join([b" ".join([method, path.encode(), version]), *kept, b"Connection: close", b"", b""])


async def _answer(writer: asyncio.StreamWriter, status: int, reason: str, text: str) -> None:
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    with suppress(OSError):
        await writer.drain()


async def _pump(
    near_reader: asyncio.StreamReader,
    near: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far: asyncio.StreamWriter,
) -> None:
    """Copy in both directions until both sides have ended. The end of one direction is passed on."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(near_reader, far))
            group.create_task(_copy(far_reader, near))
    except* OSError:
        pass
    finally:
        far.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


def hosts_of(words: Collection[str]) -> frozenset[str]:
    """Return the hosts in URLs or bare names, in lower case. Words without a host are left out."""
    found = (urlsplit(word if "//" in word else f"//{word}").hostname for word in words)
    return frozenset(host for host in found if host)
