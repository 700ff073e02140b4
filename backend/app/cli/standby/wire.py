"""The messages between a hook and its standby process: JSON documents, each after its length."""

import json
import socket
import struct
from typing import Any, cast

from app.cli.standby.surroundings import confinement_of

LIMIT = 64_000_000
"""Maximum bytes of one document."""

_LENGTH = struct.Struct("!Q")
_CREDENTIALS = struct.Struct("=iII")


def send(connection: socket.socket, document: dict[str, Any]) -> None:
    """Send one document.

    Raises:
        OSError: the other end is gone.
    """
    data = json.dumps(document).encode()
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """Receive one document. Return None if there is no whole one.

    Raises:
        OSError: the other end is gone, or too slow.
    """
    head = _read(connection, _LENGTH.size)
    size = _LENGTH.unpack(head)[0] if head else LIMIT + 1
    data = _read(connection, size) if size <= LIMIT else None
    if data is None:
        return None
    try:
        document: object = json.loads(data)
    except ValueError:
        return None
    return cast("dict[str, Any]", document) if isinstance(document, dict) else None


def is_alike(connection: socket.socket) -> bool:
    """Return True if the other end is a process of this user with the same confinement as this one.

    A program in a sandbox must not get work done outside of it, or give verdicts to programs outside.
    """
    try:
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        process, _, _ = _CREDENTIALS.unpack(told)
        return confinement_of(process) == confinement_of("self")
    except (OSError, AttributeError):  # it has ended, or the system provides no information
        return False


def _read(connection: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = connection.recv(min(size, 1_000_000))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
