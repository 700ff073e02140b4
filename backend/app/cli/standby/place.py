"""The directory in which a process that stands by has its socket, and the sockets in it."""

import os
import stat
import zlib
from collections.abc import Generator
from contextlib import contextmanager

_DIRECTORY = ".local/state/phaserunner/standby"


def standby_directory() -> str:
    """Return the user's directory; it need not exist."""
    return os.path.join(os.path.expanduser("~"), _DIRECTORY)


def socket_name(described: str) -> str:
    """Return the name of the socket of the process that stands by in such surroundings."""
    return f"{zlib.crc32(described.encode('utf-8', 'surrogateescape')):08x}.sock"


@contextmanager
def opened_privately(directory: str) -> Generator[str | None]:
    """Hold a directory open; give a short path of it, for an address of a socket has 107 bytes at most.

    None is given if it does not exist, is not this user's, or is open to other users.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield f"/proc/self/fd/{descriptor}" if os.path.isabs(directory) and _is_private(descriptor) else None
    finally:
        os.close(descriptor)


def _is_private(descriptor: int) -> bool:
    found = os.fstat(descriptor)
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
