"""Shows what the agent of an attempt has changed so far, while it works."""

import asyncio
import time
from collections import OrderedDict
from datetime import UTC, datetime
from uuid import UUID

from app.core.errors import ConflictError, WorkspaceError
from app.db.engine import Sessions
from app.db.models import Run
from app.schemas.api.attempts import UnfinishedDiff
from app.schemas.runs import AttemptState, RunStatus
from app.services.execute.trees import RunTrees
from app.services.read.runs import find_attempt

FRESH_SECONDS = 2.0
"""Within this time all callers get the same answer: reading a workspace costs the agent's machine."""

_REMEMBERED = 100

_Key = tuple[UUID, int]


class LookService:
    """Looks into workspaces on this machine.

    Args:
        sessions: opens short sessions.
        trees: finds the workspaces.
    """

    def __init__(self, sessions: Sessions, trees: RunTrees) -> None:
        self._sessions = sessions
        self._trees = trees
        self._seen: OrderedDict[_Key, tuple[float, UnfinishedDiff]] = OrderedDict()
        # One look at a time: each reads a whole workspace.
        self._lock = asyncio.Lock()

    async def look(self, run_id: UUID, phase: str, number: int, candidate: int) -> UnfinishedDiff:
        """Compare the workspace with the files that the attempt began with.

        Raises:
            NotFoundError: there is no such attempt.
            ConflictError: no agent works on it, or not on this machine.
        """
        async with self._sessions() as session:
            attempt = await find_attempt(session, run_id, phase, number)
            run = await session.get_one(Run, run_id)
        if attempt.status != AttemptState.STARTED or run.status != RunStatus.ACTIVE:
            raise ConflictError(f"no agent works on attempt {number} of {phase}")
        key = (attempt.claim, candidate)
        async with self._lock:
            taken, known = self._seen.get(key, (0.0, None))
            if known is not None and time.monotonic() - taken < FRESH_SECONDS:
                return known
            try:
                found = await self._trees.look_at(run_id, attempt.claim, candidate, attempt.base_commit)
            except WorkspaceError as error:
                text = f"what the agent has changed so far cannot be read here: {error}"
                raise ConflictError(text) from error
            diff = UnfinishedDiff(
                **dict(found),
                base_commit=attempt.base_commit,
                additions=sum(each.additions for each in found.files),
                deletions=sum(each.deletions for each in found.files),
                taken_at=datetime.now(UTC),
            )
            self._remember(key, diff)
        return diff

    def _remember(self, key: _Key, diff: UnfinishedDiff) -> None:
        self._seen[key] = (time.monotonic(), diff)
        self._seen.move_to_end(key)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
