"""The boundaries of an attempt at which a fault can be injected, and the faults."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from uuid import UUID

import psycopg

TRANSACTIONS = (
    "attempt.started",
    "attempt.produced",
    "evaluation.started",
    "evaluation.completed",
    "phase.completed",
    "workflow.completed",
)
"""Events that one transaction each records; a fault can be injected before and after each commit."""

BOUNDARIES = (
    "job taken",
    *(f"{when} {name}" for name in TRANSACTIONS[:2] for when in ("before", "after")),
    "agent at work",
    *(f"{when} {name}" for name in TRANSACTIONS[2:] for when in ("before", "after")),
    "gate at work",
)
COMMITTED = tuple(f"after {name}" for name in TRANSACTIONS)


class Action(StrEnum):
    """What happens at a boundary."""

    KILL = "kill"
    STOP = "stop"
    CUT = "cut"
    """All connections to the database end, as when an administrator terminates the Postgres backends."""
    CRASH = "crash"
    """A Postgres backend is killed: the server drops all connections and recovers."""
    LOSE_ANSWER = "lose answer"
    """The commit succeeds, but the connection is lost before the client receives the reply."""


@dataclass(frozen=True)
class Faults:
    """Injects each planned fault once, however many processes reach its boundary.

    Attributes:
        place: a directory that all processes share.
        database_url: the database, for faults that affect it.
        planned: the boundary and the fault of each run.
    """

    place: Path
    database_url: str
    planned: Mapping[UUID, tuple[str, Action]]

    def reach(self, run_id: UUID, boundary: str) -> None:
        """Record that a run's work has reached a boundary, and inject the fault planned there."""
        planned, action = self.planned.get(run_id, ("", Action.KILL))
        if planned != boundary:
            return
        try:
            os.close(os.open(self.place / f"fault-{run_id}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        self.note(fault=boundary, action=action, run=str(run_id), pid=os.getpid())
        _ACTIONS[action](self.database_url)

    def note(self, **what: object) -> None:
        """Append an entry to the journal that all processes share."""
        handle = os.open(self.place / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, json.dumps(what).encode() + b"\n")
        finally:
            os.close(handle)

    def journal(self) -> list[dict[str, object]]:
        """Return the journal's entries of all processes."""
        path = self.place / "journal"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _kill(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(_: str) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _cut(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _crash(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        # As root this works, although the server runs as another user.
        os.kill(connection.info.backend_pid, signal.SIGKILL)


def _lose_answer(_: str) -> None:
    raise ConnectionResetError("the answer was lost")


_ACTIONS: dict[Action, Callable[[str], None]] = {
    Action.KILL: _kill,
    Action.STOP: _stop,
    Action.CUT: _cut,
    Action.CRASH: _crash,
    Action.LOSE_ANSWER: _lose_answer,
}
