"""Vendor logins of agents: directories of the operator, each lent to one agent at a time."""

import fcntl
import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from app.agents.external.events import AgentEvent, AgentFinished, AgentSaid, ToolCalled
from app.agents.gateway_port import GatewayFailure
from app.agents.port import AgentUsage

_POLL_SECONDS = 0.2


class LoginBusyError(Exception):
    """Another agent uses the login."""


@dataclass(slots=True)
class NoEndpoint:
    """Replaces the gateway for an agent that asks its vendor directly. It counts the agent's events.

    Attributes:
        socket: always None.
        url: always None.
        token: always empty.
        last_activity: when the work began, in seconds of `time.monotonic`.
    """

    socket: Path | None = None
    url: str | None = None
    token: str = ""
    last_activity: float = field(default_factory=time.monotonic)
    _tool_calls: int = 0
    _has_spoken: bool = False

    def take(self, event: AgentEvent) -> None:
        """Count an event. Only a model can cause it to say something or to call a tool."""
        self._has_spoken = self._has_spoken or isinstance(event, AgentSaid | AgentFinished | ToolCalled)
        if isinstance(event, ToolCalled):
            self._tool_calls += 1

    def usage(self) -> AgentUsage:
        """Return an estimate: one request for each tool call, and one for its texts. The cost is unknown."""
        return AgentUsage(requests=self._tool_calls + self._has_spoken, tool_calls=self._tool_calls)

    def failure(self) -> GatewayFailure | None:
        """Return None, because the requests are not seen here."""
        return None


def login_problem(directory: Path, never: Sequence[Path]) -> str | None:
    """Return why a directory cannot be lent, or None if it can.

    Args:
        directory: as the operator named it.
        never: directories that an agent must not receive, such as this service's data.
    """
    if not directory.is_absolute():
        return f"{directory} is not an absolute path"
    if directory.is_symlink() or not directory.is_dir():
        return f"{directory} is not a directory"
    found = directory.resolve()
    for each in never:
        place = each.resolve()
        if place.is_relative_to(found):
            return f"{directory} holds more than a login: {place}"
    return None


@asynccontextmanager
async def lent(directory: Path, seconds: float) -> AsyncGenerator[None]:
    """Reserve a login for one agent while the block runs. Two at once would invalidate each other's tokens.

    If this service is root, the sandbox makes the agent's user the owner of the files. Afterwards they belong
    to the directory's owner again.

    Args:
        directory: the login.
        seconds: how long to wait for another agent.

    Raises:
        LoginBusyError: another agent has kept the login for that long.
        OSError: it cannot be opened.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(directory, flags)
    try:
        await _lock(descriptor, seconds)
        status = os.fstat(descriptor)
        try:
            yield
        finally:
            if os.geteuid() == 0:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(_give_back, directory, status.st_uid, status.st_gid)
    finally:
        os.close(descriptor)


async def _lock(descriptor: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise LoginBusyError(f"another agent has used the login for {seconds:g} s") from None
            await anyio.sleep(_POLL_SECONDS)
        else:
            return


def _give_back(directory: Path, uid: int, gid: int) -> None:
    for place, directories, files in os.walk(directory):
        for each in (place, *(os.path.join(place, name) for name in (*directories, *files))):
            with suppress(OSError):
                os.chown(each, uid, gid, follow_symlinks=False)
