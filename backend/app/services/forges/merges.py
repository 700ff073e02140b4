"""Follows merged pull requests for 30 days: how much people edited them, and whether they were reverted.

A merge waits as a row. It is due once when it happens, once after 30 days, and whenever someone pushes a
commit to its target whose message mentions a revert.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update

from app.core.errors import PhaseRunnerError, UnavailableError
from app.db.engine import Sessions
from app.db.models import ForgeMerge, ForgeReport, Run
from app.forges.deliveries import ReviewStirred
from app.forges.outcomes import REVERT_WINDOW, Revert, changed_lines, edits_between, find_revert
from app.forges.port import Commit, ForgeError, ForgesByName, MergedPull
from app.forges.repositories import Member, Members, not_in_file
from app.schemas.workspaces import GitSource
from app.services.chores.webhooks import pause_after
from app.services.execute.trees import RunTrees
from app.services.record.leases import Leases
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.merged import read_merged

logger = logging.getLogger(__name__)

MAX_TRIES = 12

_SETTLE = timedelta(seconds=10)
"""The pause before a look, because the list of commits may lag behind the push that a delivery reports."""

_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class _Due:
    """A merge that was taken."""

    run_id: UUID
    edited_share: float | None
    reverted_commit: str | None
    reverted_at: datetime | None
    tries: int


class MergeChore:
    """Looks at the merges that are due; any number of workers can do so.

    Args:
        sessions: opens short transactions.
        members: the repositories that take part.
        forges: adapters by name.
        trees: provides the runs' commits.
        sources: which sources and credentials are allowed.
    """

    def __init__(
        self,
        sessions: Sessions,
        members: Members,
        forges: ForgesByName,
        trees: RunTrees,
        sources: SourcePolicy,
    ) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._trees = trees
        self._sources = sources
        self._leases = Leases(sessions=sessions, table=ForgeMerge, due_at="look_at", make=_Due)

    async def __call__(self) -> int:
        """Look at the merges that are due, and return how many were tried."""
        return await self._leases.work(self._attempt, self._fail)

    async def _attempt(self, due: _Due) -> None:
        async with self._sessions() as session:
            report = await session.get_one(ForgeReport, due.run_id)
        member = self._members.named(report.forge, report.repository)
        if member is None:
            await self._give_up(due, not_in_file(report.repository))  # `membership` makes it due again
            return
        if report.pull_number is None:
            await self._give_up(due, "the run has no pull request")
            return
        try:
            values = await self._look(due, member, report.pull_number)
        except ForgeError as error:
            await self._postpone(due, str(error), error.retry_at, final=error.permanent)
        except PhaseRunnerError as error:
            await self._postpone(due, error.detail, None, final=False)
        else:
            if values["last_error"] and values["look_at"] is not None and due.tries < MAX_TRIES:
                pause = timedelta(seconds=pause_after(due.tries))
                values["look_at"] = datetime.now(UTC) + pause
            else:
                values["tries"] = 0
            await self._leases.record(due.run_id, due.tries, values)

    async def _look(self, due: _Due, member: Member, number: int) -> dict[str, Any]:
        forge, repository = self._forges[member.repository.forge], member.repository.name
        merged = await forge.merged(repository, number)
        if merged is None:
            return {"look_at": None, "last_error": "the forge does not say which commit the merge made"}
        values: dict[str, Any] = {
            "commit": merged.commit,
            "target": merged.target,
            "merged_at": merged.at,
            "last_error": "",
        }
        if due.edited_share is None:
            values |= await self._compare(due.run_id, member, merged)
        later = await forge.commits_since(repository, merged.target, merged.at)
        revert = find_revert(merged, repository, later) or _before(later, due)
        ends = merged.at + REVERT_WINDOW
        return values | {
            "reverted_commit": revert.commit if revert else None,
            "reverted_at": revert.at if revert else None,
            "look_at": ends + _AFTER if datetime.now(UTC) < ends else None,
        }

    async def _compare(self, run_id: UUID, member: Member, merged: MergedPull) -> dict[str, Any]:
        async with self._sessions() as session:
            run = await session.get_one(Run, run_id)
        try:
            repository = await self._trees.repository(run_id, run.base_commit, run.head_commit)
            source = GitSource(url=member.clone_url, credential=member.forge.credential)
            found = await read_merged(
                source,
                merged.commit,
                merged.commits,
                repository,
                run.base_commit,
                run.head_commit,
                self._sources,
            )
        except UnavailableError:
            raise
        except PhaseRunnerError as error:
            # Reverts are still detected; the next look compares again.
            return {"last_error": f"the merge is not compared: {error.detail}"}
        delivered = changed_lines(found.delivered)
        edits = [edits_between(delivered, changed_lines(each)) for each in found.merged]
        least = min(edits, key=lambda each: each.share)
        return {"lines": least.lines, "edited_share": least.share}

    async def _fail(self, due: _Due, why: str) -> None:
        await self._postpone(due, why, None, final=False)

    async def _postpone(self, due: _Due, why: str, retry_at: datetime | None, *, final: bool) -> None:
        if final or due.tries >= MAX_TRIES:
            await self._give_up(due, why)
            return
        at = retry_at or datetime.now(UTC) + timedelta(seconds=pause_after(due.tries))
        logger.warning("cannot read the merge of run %s, retrying at %s: %s", due.run_id, at, why)
        tries = {"tries": due.tries - 1} if retry_at else {}
        await self._leases.record(due.run_id, due.tries, {"look_at": at, "last_error": why, **tries})

    async def _give_up(self, due: _Due, why: str) -> None:
        logger.error("stopped following the merge of run %s: %s", due.run_id, why)
        await self._leases.record(due.run_id, due.tries, {"look_at": None, "last_error": why})


def _before(listed: Sequence[Commit], due: _Due) -> Revert | None:
    """Return the revert that is known, if it is older than the list, which has only the newest commits."""
    if due.reverted_commit is None or due.reverted_at is None:
        return None
    is_listed = any(each.id == due.reverted_commit for each in listed)
    return None if is_listed else Revert(due.reverted_commit, due.reverted_at)


async def stir_merges(sessions: Sessions, member: Member, sign: ReviewStirred) -> int:
    """Make the merges due that a pushed revert may affect, and return how many there are."""
    of_repository = select(ForgeReport.run_id).where(
        ForgeReport.forge == member.repository.forge, ForgeReport.repository == member.repository.name
    )
    statement = (
        update(ForgeMerge)
        .where(
            ForgeMerge.run_id.in_(of_repository),
            ForgeMerge.target == sign.branch,
            ForgeMerge.look_at.is_not(None),
        )
        .values(look_at=func.now() + _SETTLE, tries=0)
        .returning(ForgeMerge.run_id)
    )
    async with sessions.begin() as session:
        return len((await session.scalars(statement)).all())
