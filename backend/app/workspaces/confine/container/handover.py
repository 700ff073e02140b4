"""Passes file descriptors to a program in a container over a unix socket, once."""

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from app.workspaces.confine.python_places import interpreter_paths

RECEIVER = Path(__file__).with_name("receiver.py")
"""The program that starts inside the container and receives the descriptors."""


def receiving(python: Path, path: Path, descriptors: Sequence[int], argv: Sequence[str]) -> list[str]:
    """Return the command line that receives the descriptors, then executes `argv`."""
    numbers = ",".join(map(str, descriptors))
    return [str(python), "-I", "-S", "-B", str(RECEIVER), str(path), numbers, *argv]


def needed_for(python: Path, path: Path) -> tuple[Path, ...]:
    """Return the paths that the container must see to run the receiver."""
    return (path, RECEIVER, *interpreter_paths(python))


@asynccontextmanager
async def offered(descriptors: Sequence[int], owner: int | None) -> AsyncGenerator[Path]:
    """Offer descriptors to the first process that connects to a socket. Yield the socket's path.

    The first is always this module's receiver, because it connects before any code of a workspace runs.

    Args:
        descriptors: open descriptors of this process, which keeps them open.
        owner: number of the user that may connect; None is this process's user.
    """
    with (
        tempfile.TemporaryDirectory(prefix="phaserunner-handover-") as directory,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
    ):
        path = Path(directory) / "descriptors"
        listener.setblocking(False)
        listener.bind(str(path))
        if owner is not None:
            os.chown(path, owner, owner)
        listener.listen(1)
        giving = asyncio.create_task(_give(listener, descriptors))
        try:
            yield path
        finally:
            giving.cancel()
            await asyncio.wait([giving])


async def _give(listener: socket.socket, descriptors: Sequence[int]) -> None:
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    with connection:
        socket.send_fds(connection, [b"."], list(descriptors))
    listener.close()
