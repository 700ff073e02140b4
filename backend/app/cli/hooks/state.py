"""Stores the hooks' state of a session: one small file for each, locked while a hook uses it."""

import fcntl
import hashlib
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from app.cli.hooks.answer import HookAnswer, HookReply

KEPT_SECONDS = 7 * 86_400
"""A session without events for this long is forgotten."""


class SessionState(BaseModel):
    """The state of one session.

    Attributes:
        base: the commit at which it started; None if unknown.
        returned: how often it had findings back since the last pass.
        answered_at: time of the last answer, in seconds since the epoch.
        answer: the kind of the last answer.
        text: the text of the last answer.
    """

    base: str | None = None
    returned: int = 0
    answered_at: float = 0.0
    answer: HookReply = HookReply.STOP
    text: str = ""

    def with_answer(self, given: HookAnswer) -> "SessionState":
        """Return the state after an answer."""
        update = {
            "returned": given.returned,
            "answered_at": time.time(),
            "answer": given.answer,
            "text": given.text,
        }
        return self.model_copy(update=update)

    @property
    def last(self) -> HookAnswer:
        """The last answer."""
        return HookAnswer(self.answer, self.text, self.returned)


class SessionStates:
    """The sessions in a directory.

    Args:
        directory: created when it is first needed.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextmanager
    def locked(self, session: str, project: Path) -> Generator["SessionFile"]:
        """Lock a session's file. Another hook for the same session waits until it is released."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._forget_old()
        key = hashlib.sha256(f"{session}\0{project}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
        descriptor = os.open(self._directory / f"{key}.json", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield SessionFile(descriptor, self._directory / f"{key}.json")
        finally:
            os.close(descriptor)

    def _forget_old(self) -> None:
        oldest = time.time() - KEPT_SECONDS
        for path in self._directory.glob("*.json"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class SessionFile:
    """One session's file, while it is locked."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    def read(self) -> SessionState:
        """Return the state; a damaged file counts as a new session."""
        data = os.pread(self._descriptor, 1_000_000, 0)
        try:
            return SessionState.model_validate_json(data)
        except ValidationError:
            return SessionState()

    def write(self, state: SessionState) -> None:
        """Write the state."""
        data = state.model_dump_json().encode("utf-8", "surrogatepass")
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)

    def remove(self) -> None:
        """Forget the session."""
        with suppress(FileNotFoundError):
            self._path.unlink()
