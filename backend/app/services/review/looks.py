"""Shows what the agent of an attempt has changed so far, while it works, wherever its worker runs."""

import asyncio
import zlib
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import Insert, insert

from app.core.errors import ConflictError
from app.db.engine import Sessions
from app.db.models import Attempt, Run, WorkspaceLook
from app.schemas.api.attempts import UnfinishedDiff
from app.schemas.runs import AttemptState, RunKind, RunStatus
from app.schemas.workspaces import Diff
from app.services.execute.looks import is_due
from app.services.read.runs import find_attempt

FRESH = timedelta(seconds=2)
"""For this time all callers get the same look, because reading a workspace burdens the agent's machine."""

MOST_FILES = 1_000
"""The number of files that are named; further ones are only counted."""

_PERIOD_SECONDS = 0.1


class LookService:
    """Asks the worker of an attempt for a look, and waits for it.

    Args:
        sessions: opens short sessions.
        patience: seconds within which a worker must reply.
    """

    def __init__(self, sessions: Sessions, patience: float = 10.0) -> None:
        self._sessions = sessions
        self._patience = patience

    async def look(self, run_id: UUID, phase: str, number: int, candidate: int) -> UnfinishedDiff:
        """Compare the workspace with the files that the attempt started from.

        Raises:
            NotFoundError: there is no such attempt.
            ConflictError: no agent works on it, or its worker does not reply.
        """
        async with self._sessions.begin() as session:
            attempt = await find_attempt(session, run_id, phase, number)
            run = await session.get_one(Run, run_id)
            if not _is_at_work(run, attempt):
                raise ConflictError(f"no agent works on attempt {number} of {phase}")
            await session.execute(_wish(attempt, candidate))
        try:
            async with asyncio.timeout(self._patience):
                await self._until_taken(attempt.claim, candidate)
        except TimeoutError:
            text = f"the worker of the agent has not answered within {self._patience:g} s"
            raise ConflictError(text) from None
        return await self._read(attempt, candidate)

    async def _until_taken(self, claim: UUID, candidate: int) -> None:
        """Wait until the look was taken, or was deleted with the attempt."""
        wanted = select(WorkspaceLook.claim).where(
            WorkspaceLook.claim == claim, WorkspaceLook.candidate == candidate, is_due()
        )
        while True:
            async with self._sessions() as session:
                if await session.scalar(wanted) is None:
                    return
            await asyncio.sleep(_PERIOD_SECONDS)

    async def _read(self, attempt: Attempt, candidate: int) -> UnfinishedDiff:
        async with self._sessions() as session:
            row = await session.get(WorkspaceLook, (attempt.claim, candidate))
        if row is None or row.taken_at is None:
            raise ConflictError(f"the agent of attempt {attempt.number} of {attempt.phase} has ended")
        if row.diff is None:
            raise ConflictError(f"what the agent has changed so far cannot be read: {row.problem}")
        diff = Diff.model_validate_json(zlib.decompress(row.diff))
        return UnfinishedDiff(
            files=diff.files[:MOST_FILES],
            truncated=diff.truncated,
            base_commit=attempt.base_commit,
            changed_files=len(diff.files),
            additions=sum(each.additions for each in diff.files),
            deletions=sum(each.deletions for each in diff.files),
            taken_at=row.taken_at,
        )


def _is_at_work(run: Run, attempt: Attempt) -> bool:
    is_sprint = run.kind == RunKind.SPRINT
    return is_sprint and attempt.status == AttemptState.STARTED and run.status == RunStatus.ACTIVE


def _wish(attempt: Attempt, candidate: int) -> Insert:
    """Return the statement that requests a look, unless one is pending or recent."""
    now = func.clock_timestamp()
    wish = insert(WorkspaceLook).values(
        claim=attempt.claim, candidate=candidate, run_id=attempt.run_id, wanted_at=now
    )
    is_old = (WorkspaceLook.taken_at >= WorkspaceLook.wanted_at) & (WorkspaceLook.taken_at < now - FRESH)
    return wish.on_conflict_do_update(
        index_elements=["claim", "candidate"], set_={"wanted_at": now}, where=is_old
    )
