"""Frames text as a WebSocket message, once for all clients: servers do not mask, so all get the same."""

from websockets.frames import Frame, Opcode

_MEDIUM, _LARGE = 126, 127
"""Lengths that say that the length follows, in two or in eight bytes (RFC 6455, 5.2)."""


def text_message(text: bytes) -> bytes:
    """UTF-8 text as one unfragmented, uncompressed message of a server."""
    return Frame(Opcode.TEXT, text).serialize(mask=False)


def text_of(message: bytes) -> bytes:
    """The text in such a message."""
    return message[{_MEDIUM: 4, _LARGE: 10}.get(message[1], 2) :]
