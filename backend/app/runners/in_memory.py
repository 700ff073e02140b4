"""Keeps the records of a run without a database, and provides the facts that `decide` needs."""

import hashlib
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

from app.runners.facts import AttemptFacts, EscalationFacts, History, Spent
from app.schemas.runs import RunPolicy, RunStatus, Usage
from app.workspaces.files.paths import is_excluded_directory, is_git_directory_name

_CHUNK_BYTES = 1 << 20


class MemoryRecords:
    """The records of a run with one phase.

    Attributes:
        phase: the current phase; None if it is complete.
        policy: the run's policy.
        attempts: the facts of each attempt, by number.
        escalation: the open escalation for which the run waits.
        usage: what agents and judges consumed.
    """

    def __init__(self, phase: str, policy: RunPolicy) -> None:
        self._plan = (phase,)
        self.phase: str | None = phase
        self.policy = policy
        self.attempts: dict[int, AttemptFacts] = {}
        self.escalation: EscalationFacts | None = None
        self.usage = Usage()

    async def load(self) -> tuple[History, RunPolicy]:
        """Return the recorded history and the policy."""
        history = History(
            status=RunStatus.ACTIVE,
            phases=self._plan,
            phase=self.phase,
            attempts=tuple(self.attempts[number] for number in sorted(self.attempts)),
            escalations=(self.escalation,) if self.escalation else (),
            spent=Spent(
                tokens=self.usage.input_tokens + self.usage.output_tokens, cost_usd=self.usage.cost_usd or 0.0
            ),
            now=datetime.now(UTC),
        )
        return history, self.policy


def text_identity(text: str) -> str:
    """Return an identity of a text. Equal texts have equal identities."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tree_identity(root: Path) -> str:
    """Return an identity of a working tree's content, equal for trees that git would commit alike.

    Names, content, links and the executable bit count. Caches, installed packages and git's own directory do
    not.

    Raises:
        OSError: the tree cannot be read.
    """
    found = hashlib.sha256()
    directories = [b""]
    while directories:
        directory = directories.pop()
        with os.scandir(os.path.join(os.fsencode(root), directory)) as entries:
            ordered = sorted(entries, key=lambda each: each.name)
        for entry in ordered:
            path = os.path.join(directory, entry.name)
            if is_git_directory_name(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not is_excluded_directory(entry.name):
                    directories.append(path)
            elif not entry.name.endswith(b".pyc"):
                found.update(_entry_identity(path, entry))
    return found.hexdigest()


def _entry_identity(path: bytes, entry: os.DirEntry[bytes]) -> bytes:
    mode = entry.stat(follow_symlinks=False).st_mode
    content = hashlib.sha256()
    if entry.is_symlink():
        kind = b"link"
        content.update(os.readlink(entry.path))
    elif stat.S_ISREG(mode):
        kind = b"program" if mode & stat.S_IXUSR else b"file"
        with open(entry.path, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                content.update(chunk)
    else:
        kind = b"special"
    return hashlib.sha256(b"\0".join([kind, path, content.digest()])).digest()
