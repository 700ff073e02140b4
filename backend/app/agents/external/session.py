"""Keeps an agent's conversation between attempts: its home directory, and one path for its workspace.

Agents find a conversation by the directory in which it took place. So the tree of each attempt is moved to
the same path while the agent works. The conversation in progress is recorded there, too. If the worker is
lost or stopped, the tree stays there, and the next try continues with both.
"""

import asyncio
import fcntl
import json
import logging
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread

from app.agents.external.home import matches, own_home, remove, tidied
from app.agents.port import AgentTask, SessionPlace, SessionUse

logger = logging.getLogger(__name__)

_NOTE = "session.json"
_UNDER_WAY = "under-way.json"
_FAILED = "failed.json"
_LOST = "the conversation of the interrupted try was not kept here"
_NONE_LEFT = "the attempt before left no conversation"
_REASON_CHARS = 500


class _BusyError(Exception):
    """Another process uses the directory."""


@dataclass(slots=True)
class OpenSession:
    """An agent's present directories and conversation.

    Attributes:
        home: its home directory.
        workspace: the tree of the task.
        resume: the conversation to continue, by the agent's name for it.
        note: why there is none, if one was wanted.
        interrupted: True if the tree holds the work of an interrupted try.
    """

    home: Path
    workspace: Path
    resume: str | None = None
    note: str = ""
    interrupted: bool = False
    _place: "_Place | None" = None

    @property
    def use(self) -> SessionUse:
        """Return what the attempt records about the conversation."""
        return SessionUse(self.resume is not None, self.note)

    async def begin_anew(self, note: str) -> None:
        """Give up the earlier conversation, and record why."""
        self.resume, self.note = None, note
        if self._place is not None:
            await anyio.to_thread.run_sync(self._place.empty_home)

    async def keep(self, session: str) -> None:
        """Record the agent's name for its conversation. If that fails, the log says so."""
        if self._place is not None:
            await anyio.to_thread.run_sync(self._place.remember, session)

    async def failed(self, reason: str) -> None:
        """Record why the agent failed, so that a later attempt can say why there is no conversation."""
        if self._place is not None:
            await anyio.to_thread.run_sync(self._place.note_failure, reason)

    def began(self, session: str) -> None:
        """Record at once that this conversation is in progress. If that fails, the log says so."""
        if self._place is not None:
            self._place.note_under_way(session)


@asynccontextmanager
async def open_session(task: AgentTask, agent: str, leavings: Sequence[str]) -> AsyncGenerator[OpenSession]:
    """Yield the home directory and the workspace for a task.

    The agent's leftovers in the workspace are removed at the end of the block. If no conversation can be
    kept, the home directory is temporary.

    Args:
        task: the task.
        agent: its name; another agent's conversation is not continued.
        leavings: patterns of files that belong to the agent, not to its work.
    """
    note = ""
    if task.session is not None:
        place = _Place(task.session, agent, task.workspace, is_first=task.attempt == 1)
        # Done before the tree of an interrupted try is restored, because that may hold the agent's leftovers.
        before = await anyio.to_thread.run_sync(matches, task.workspace, leavings)
        try:
            async with _taken(place):
                async with tidied(place.workspace, leavings, before):
                    resume, note = place.recall()
                    yield OpenSession(
                        place.home, place.workspace, resume, note, place.is_taken_up, _place=place
                    )
                return
        except _BusyError as error:
            note = str(error) if task.session.is_wanted else ""
    async with own_home(task.workspace, leavings) as home:
        yield OpenSession(home, task.workspace, note=note)


@asynccontextmanager
async def _taken(place: "_Place") -> AsyncGenerator[None]:
    # No thread is used: a cancellation while waiting for one would leave the tree in the other directory.
    place.take()
    interrupted = False
    try:
        yield
    except asyncio.CancelledError:
        interrupted = True
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(place.lay_down if interrupted else place.leave)


class _Place:
    """The directory of one candidate. Only one process uses it at a time."""

    def __init__(self, session: SessionPlace, agent: str, tree: Path, *, is_first: bool) -> None:
        self._session = session
        self._is_first = is_first
        self._directory = session.directory / str(session.candidate)
        self._agent = agent
        self._key = {"agent": agent, "subject": session.subject}
        self._tree = tree
        self._lock = -1
        self.is_taken_up = False

    @property
    def home(self) -> Path:
        """The agent's home directory."""
        return self._directory / "home"

    @property
    def workspace(self) -> Path:
        """The path of the tree while the agent works."""
        return self._directory / "workspace"

    def take(self) -> None:
        """Move the tree here. If a try at the same task was interrupted, use its tree instead.

        Raises:
            _BusyError: another process is here, or the tree cannot be moved.
        """
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self._directory / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.is_taken_up = self._under_way() is not None and self.workspace.is_dir()
            if self.is_taken_up:
                remove(self._tree)
            else:
                remove(self.workspace)
                self._tree.rename(self.workspace)
            self.home.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            self._unlock()
            raise _BusyError(f"the conversation cannot be kept: {error.strerror}") from error

    def leave(self) -> None:
        """Move the tree back, because the work has ended."""
        with suppress(OSError):
            self.workspace.rename(self._tree)
        (self._directory / _UNDER_WAY).unlink(missing_ok=True)
        if not self._session.continues:
            remove(self.home)
        self._unlock()

    def lay_down(self) -> None:
        """Leave the tree here for the next try, because the work was interrupted during a conversation.

        Without a conversation, move the tree back.
        """
        if self._under_way() is None:
            self.leave()
            return
        with suppress(OSError):
            self._tree.mkdir()  # its owner removes it
        self._unlock()

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def recall(self) -> tuple[str | None, str]:
        """Return the conversation to continue, or None with the reason."""
        kept = self._under_way() if self.is_taken_up else None
        if kept is None and self._session.continues:
            kept = self._read(_NOTE, self._key)
        if kept is not None:
            return kept, ""
        note = self._why_none()
        self.empty_home()
        return None, note

    def _why_none(self) -> str:
        if self._session.interrupted:
            return _LOST
        if not self._session.continues:
            return ""
        reason = self._read(_FAILED, self._key, "reason")
        if reason is not None:
            return f"{_NONE_LEFT}: {reason}"
        return "" if self._is_first else f"{_NONE_LEFT} here"

    def note_failure(self, reason: str) -> None:
        """Record why the agent failed, for an attempt that wants to continue."""
        if self._session.continues:
            with suppress(OSError):  # the attempt records the failure in any case
                self._write(_FAILED, {**self._key, "reason": reason[:_REASON_CHARS]})

    def note_under_way(self, session: str) -> None:
        """Record which conversation is in progress, and the commit from which it started."""
        self._note_conversation(_UNDER_WAY, {**self._started, "session": session})

    def _under_way(self) -> str | None:
        return self._read(_UNDER_WAY, self._started)

    @property
    def _started(self) -> dict[str, str]:
        return {**self._key, "start": self._session.start}

    def _read(self, name: str, key: Mapping[str, str], wanted: str = "session") -> str | None:
        try:
            kept: object = json.loads((self._directory / name).read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(kept, dict):
            return None
        found = cast("dict[str, Any]", kept).get(wanted)
        return found if isinstance(found, str) and {**key, wanted: found} == kept else None

    def _write(self, name: str, content: Mapping[str, str]) -> None:
        """Replace a file, or leave it as it was."""
        new = self._directory / f"{name}.new"
        try:
            new.write_text(json.dumps(content), encoding="utf-8")
            new.replace(self._directory / name)
        except OSError:
            with suppress(OSError):
                new.unlink()
            raise

    def _note_conversation(self, name: str, content: Mapping[str, str]) -> None:
        try:
            self._write(name, content)
        except OSError as error:
            # The agent's work counts all the same. An older note would lead to a conversation without it.
            with suppress(OSError):
                (self._directory / name).unlink(missing_ok=True)
            told = "the conversation of %s in %s cannot be noted, so no later try continues it: %s"
            logger.warning(told, self._agent, self._directory, error)

    def remember(self, session: str) -> None:
        """Record the agent's name for its conversation."""
        self._note_conversation(_NOTE, {**self._key, "session": session})

    def empty_home(self) -> None:
        """Forget the conversation."""
        for name in (_NOTE, _UNDER_WAY, _FAILED):
            (self._directory / name).unlink(missing_ok=True)
        remove(self.home)
        self.home.mkdir(mode=0o700, exist_ok=True)
