"""Carries messages between the two processes: JSON after its length, with limits on size and time."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, cast

from .clock import monotonic

_HEAD = struct.Struct(">I")
_TIMEVAL = struct.Struct("@ll")
_CHUNK = 1 << 18
_MAX_MESSAGE = 32_000_000
_MAX_TOTAL = 2_000_000_000


ENDED = "the other process has ended"
SILENT = "the other process does not answer in time"


class WireError(Exception):
    """The other process is gone or too slow, or sent something that is not a message."""


class UnsendableError(WireError):
    """A message cannot be written. No part of it was sent."""


class Wire:
    """One end of the socket pair.

    Args:
        fd: its descriptor.
        seconds: limit on the time for everything that is ever sent and received.
        patience: seconds to wait for one message; None for as long as there is time.
    """

    def __init__(self, fd: int, seconds: float, patience: float | None = None) -> None:
        self._socket = socket.socket(fileno=fd)
        self._socket.set_inheritable(False)
        # Set once in the kernel, because Python's own timeout costs one more call for each message.
        limit = _TIMEVAL.pack(int(min(seconds, patience or seconds)) + 1, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self._until = monotonic() + seconds
        self._left = _MAX_TOTAL
        self._received = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message.

        Raises:
            WireError: it is too large, or the other side does not accept it in time.
        """
        try:
            data = json.dumps(message, separators=(",", ":")).encode()
        except (ValueError, RecursionError) as error:
            raise UnsendableError(f"a value cannot be sent: {error}") from error
        if len(data) > _MAX_MESSAGE:
            raise UnsendableError("a value is too large to send")
        self._check_time()
        try:
            self._socket.sendall(_HEAD.pack(len(data)) + data)
        except OSError as error:
            raise WireError("the other process does not listen") from error

    def receive(self) -> dict[str, Any]:
        """Wait for one message.

        Raises:
            WireError: none came in time, or the data is not a message.
        """
        (length,) = _HEAD.unpack(self._exactly(_HEAD.size))
        self._left -= length
        if length > _MAX_MESSAGE or self._left < 0:
            raise WireError("the other process sends too much")
        try:
            message: object = json.loads(self._heard(self._exactly(length)))
        except (ValueError, RecursionError) as error:
            raise WireError("the other process sends something that is not a message") from error
        if not isinstance(message, dict):
            raise WireError("the other process sends something that is not a message")
        return cast("dict[str, Any]", message)

    def _heard(self, data: bytes) -> bytes:
        """Handle received data. A derived class may remember it."""
        return data

    def _exactly(self, size: int) -> bytes:
        # A message usually arrives in one piece, with its length and content in one call.
        while len(self._received) < size:
            self._check_time()
            try:
                chunk = self._socket.recv(max(size - len(self._received), _CHUNK))
            except BlockingIOError as error:
                raise WireError(SILENT) from error
            except OSError as error:
                raise WireError(ENDED) from error
            if not chunk:
                raise WireError(ENDED)
            self._received += chunk
        data = bytes(self._received[:size])
        del self._received[:size]
        return data

    def _check_time(self) -> None:
        if self._until < monotonic():
            raise WireError("time is up")
