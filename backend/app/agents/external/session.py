"""Keeps an agent's conversation between attempts: its home directory, and one path for its workspace.

Agents find a conversation by the directory in which it was held, so the tree of each attempt is moved to the
same place while the agent works.
"""

import fcntl
import json
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from app.agents.external.home import own_home, remove, tidied
from app.agents.port import AgentTask, SessionPlace, SessionUse

_NOTE = "session.json"


class _BusyError(Exception):
    """Another process uses the place."""


@dataclass(slots=True)
class OpenSession:
    """Where an agent works now.

    Attributes:
        home: its home directory.
        workspace: the tree of the task.
        resume: the conversation to go on with, as the agent calls it.
        note: why there is none, where one was wanted.
    """

    home: Path
    workspace: Path
    resume: str | None = None
    note: str = ""
    _place: "_Place | None" = None

    @property
    def use(self) -> SessionUse:
        """What is recorded of it."""
        return SessionUse(self.resume is not None, self.note)

    async def begin_anew(self, note: str) -> None:
        """Return up the earlier conversation, and remember why."""
        self.resume, self.note = None, note
        if self._place is not None:
            await anyio.to_thread.run_sync(self._place.empty_home)

    async def keep(self, session: str) -> None:
        """Remember what the agent calls its conversation."""
        if self._place is not None:
            await anyio.to_thread.run_sync(self._place.remember, session)


@asynccontextmanager
async def open_session(task: AgentTask, agent: str, leavings: Sequence[str]) -> AsyncGenerator[OpenSession]:
    """Yield the home directory and the workspace for a task.

    What the agent leaves in the workspace is removed with the block. Where no conversation can be kept, the
    home directory is a temporary one.

    Args:
        task: what is to be done.
        agent: its name; another agent's conversation is not continued.
        leavings: patterns of names that are the agent's alone.
    """
    note = ""
    if task.session is not None:
        place = _Place(task.session, agent, task.workspace)
        try:
            async with _taken(place):
                async with tidied(place.workspace, leavings):
                    resume, note = place.recall()
                    yield OpenSession(place.home, place.workspace, resume, note, place)
                return
        except _BusyError as error:
            note = str(error)
    async with own_home(task.workspace, leavings) as home:
        yield OpenSession(home, task.workspace, note=note)


@asynccontextmanager
async def _taken(place: "_Place") -> AsyncGenerator[None]:
    # Without waiting for a thread: a cancellation meanwhile would leave the tree in the other place.
    place.take()
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(place.leave)


class _Place:
    """The directory of one candidate; only one process uses it at a time."""

    def __init__(self, session: SessionPlace, agent: str, tree: Path) -> None:
        self._directory = session.directory / str(session.candidate)
        self._key = {"agent": agent, "subject": session.subject}
        self._tree = tree
        self._lock = -1

    @property
    def home(self) -> Path:
        """The agent's home directory."""
        return self._directory / "home"

    @property
    def workspace(self) -> Path:
        """Where the tree is while the agent works."""
        return self._directory / "workspace"

    def take(self) -> None:
        """Move the tree here.

        Raises:
            _BusyError: another process is here, or the tree cannot be moved.
        """
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self._directory / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(self.workspace)
            self._tree.rename(self.workspace)
            self.home.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            self._unlock()
            raise _BusyError(f"the conversation cannot be kept: {error.strerror}") from error

    def leave(self) -> None:
        """Move the tree back."""
        with suppress(OSError):
            self.workspace.rename(self._tree)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def recall(self) -> tuple[str | None, str]:
        """Return the conversation to go on with, or None with the reason."""
        try:
            kept = json.loads((self._directory / _NOTE).read_bytes())
        except (OSError, ValueError):
            kept = None
        if not isinstance(kept, dict):
            self.empty_home()
            return None, ""
        if {**self._key, "session": kept.get("session")} != kept:  # pyright: ignore[reportUnknownMemberType]
            self.empty_home()
            return None, ""
        return str(kept["session"]), ""  # pyright: ignore[reportUnknownArgumentType]

    def remember(self, session: str) -> None:
        """Write down what the agent calls its conversation."""
        content = json.dumps({**self._key, "session": session})
        (self._directory / _NOTE).write_text(content, encoding="utf-8")

    def empty_home(self) -> None:
        """Forget the conversation."""
        (self._directory / _NOTE).unlink(missing_ok=True)
        remove(self.home)
        self.home.mkdir(mode=0o700, exist_ok=True)
