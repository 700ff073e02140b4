"""Passes a hook's work to the standby process, if there is one that may do it."""

import io
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any

from app.cli.standby.place import opened_privately, socket_name, standby_directory
from app.cli.standby.surroundings import surroundings
from app.cli.standby.wire import is_alike, receive, send

_ACCEPT_SECONDS = 20.0


def answered(arguments: Sequence[str]) -> int | None:
    """Let the standby process answer a hook, and write its output.

    Args:
        arguments: of the command line, without the program's name.

    Returns:
        The exit code, or None if this process must do the work. Its standard input is then still unread.
    """
    try:
        described = surroundings()
        connection = _connect(socket_name(described))
    except (OSError, AttributeError):  # not Linux, or a system that does not provide the information
        return None
    if connection is None:
        return None
    with connection:
        stdin = sys.stdin.buffer.read()
        reply = _ask(connection, _request(arguments, described, stdin))
    if reply is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), sys.stdin.encoding, sys.stdin.errors)
        return None
    for stream, name in ((sys.stdout, "out"), (sys.stderr, "err")):
        stream.buffer.write(str(reply[name]).encode("latin-1"))
        stream.flush()
    return int(reply["code"])


def _connect(name: str) -> socket.socket | None:
    with opened_privately(standby_directory()) as place:
        if place is None:
            return None
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(_ACCEPT_SECONDS)
        try:
            connection.connect(f"{place}/{name}")
            if is_alike(connection):
                return connection
        except OSError:  # there is no standby process, or it has just ended
            pass
        connection.close()
        return None


def _request(arguments: Sequence[str], described: str, stdin: bytes) -> dict[str, Any]:
    umask = os.umask(0o077)
    os.umask(umask)
    return {
        "surroundings": described,
        "arguments": list(arguments),
        "cwd": os.getcwd(),
        "environment": dict(os.environ),  # noqa: TID251 - handed over as it is
        "umask": umask,
        "stdin": stdin.decode("latin-1"),
    }


def _ask(connection: socket.socket, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the reply. Return None if the request was not accepted, or if the other process ended."""
    try:
        send(connection, request)
        if receive(connection) != {"accepted": True}:
            return None
        connection.settimeout(None)  # evaluation takes time; the caller limits the hook
        return receive(connection)
    except OSError:
        return None
