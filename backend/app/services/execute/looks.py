"""Shows the workspaces of agents at work to services in other processes and on other machines, on demand."""

import asyncio
import logging
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import anyio
import anyio.to_thread
from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import NotFoundError, WorkspaceError
from app.db.engine import Sessions
from app.db.models import Attempt, WorkspaceLook
from app.schemas.workspaces import Diff

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 1.0
"""How often a worker checks whether someone watches one of its agents."""

_AWAY = (SQLAlchemyError, OSError)


@dataclass(frozen=True, slots=True)
class _Due:
    """A candidate to look at, the commit from which its attempt started, and the database's time."""

    candidate: int
    start: str
    at: datetime


class LookedAt(Protocol):
    """Finds the workspaces of agents at work on this machine."""

    async def look_at(self, run_id: UUID, claim: UUID, candidate: int, start: str) -> Diff:
        """Return the difference between a candidate's tree and the commit from which it started.

        Raises:
            WorkspaceError: the tree is gone or too large.
        """
        ...


class ShowsWork(Protocol):
    """Shows the workspaces of one attempt."""

    def __call__(self, run_id: UUID, claim: UUID) -> AbstractAsyncContextManager[None]:
        """Serve looks while the block runs."""
        ...


@asynccontextmanager
async def show_nothing(run_id: UUID, claim: UUID) -> AsyncGenerator[None]:
    """Show no workspace."""
    yield


class LookKeeper:
    """Serves looks at the agents of this worker, one at a time, because each look reads a whole workspace.

    Args:
        sessions: opens short sessions.
        trees: finds the workspaces.
    """

    def __init__(self, sessions: Sessions, trees: LookedAt) -> None:
        self._sessions = sessions
        self._trees = trees
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def __call__(self, run_id: UUID, claim: UUID) -> AsyncGenerator[None]:
        """Serve looks at an attempt while the block runs, then delete them."""
        answering = asyncio.create_task(self._answer(run_id, claim))
        try:
            yield
        finally:
            answering.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([answering])
                await self._forget(run_id)

    async def _answer(self, run_id: UUID, claim: UUID) -> None:
        clock = asyncio.get_running_loop()
        pause = PERIOD_SECONDS
        while True:
            await asyncio.sleep(pause)
            began = clock.time()
            try:
                for due in await self._due(run_id, claim):
                    await self._take(run_id, claim, due)
            except _AWAY as error:
                logger.debug("cannot show unfinished changes of run %s: %s", run_id, error)
            # A large workspace is read less often, so that looks take at most half of the time.
            pause = max(PERIOD_SECONDS, clock.time() - began)

    async def _due(self, run_id: UUID, claim: UUID) -> Sequence[_Due]:
        """Return the candidates to look at; none if another worker holds the attempt."""
        statement = (
            select(WorkspaceLook.candidate, Attempt.base_commit, func.clock_timestamp())
            .join(Attempt, Attempt.claim == WorkspaceLook.claim)
            .where(Attempt.run_id == run_id, WorkspaceLook.claim == claim, is_due())
        )
        async with self._sessions() as session:
            return [_Due(*row) for row in await session.execute(statement)]

    async def _take(self, run_id: UUID, claim: UUID, due: _Due) -> None:
        diff, problem = None, ""
        try:
            async with self._lock:
                found = await self._trees.look_at(run_id, claim, due.candidate, due.start)
            diff = await anyio.to_thread.run_sync(_packed, found)
        except (WorkspaceError, NotFoundError) as error:
            problem = str(error)
        statement = update(WorkspaceLook).where(
            WorkspaceLook.claim == claim, WorkspaceLook.candidate == due.candidate
        )
        async with self._sessions.begin() as session:
            await session.execute(statement.values(taken_at=due.at, diff=diff, problem=problem))

    async def _forget(self, run_id: UUID) -> None:
        """Delete all looks at a run, including those that a dead worker left."""
        with suppress(*_AWAY):
            async with self._sessions.begin() as session:
                await session.execute(delete(WorkspaceLook).where(WorkspaceLook.run_id == run_id))


def is_due() -> ColumnElement[bool]:
    """Return the condition for a look that is wanted and not yet taken."""
    return or_(WorkspaceLook.taken_at.is_(None), WorkspaceLook.taken_at < WorkspaceLook.wanted_at)


def _packed(diff: Diff) -> bytes:
    return zlib.compress(diff.model_dump_json().encode())
