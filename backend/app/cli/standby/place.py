"""The directory for the sockets of standby processes."""

import os
import stat
import zlib
from collections.abc import Generator
from contextlib import contextmanager

_DIRECTORY = ".local/state/phaserunner/standby"


def standby_directory() -> str:
    """Return the user's directory. It need not exist."""
    return os.path.join(os.path.expanduser("~"), _DIRECTORY)


def socket_name(described: str) -> str:
    """Return the name of the socket of the standby process for these surroundings."""
    return f"{zlib.crc32(described.encode('utf-8', 'surrogateescape')):08x}.sock"


@contextmanager
def opened_privately(directory: str) -> Generator[str | None]:
    """Hold a directory open. Yield a short path of it, because socket addresses have at most 107 bytes.

    Yield None if it does not exist, does not belong to this user, or is accessible to other users.
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
