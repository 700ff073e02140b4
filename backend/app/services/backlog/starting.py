"""Starts items of the backlog when they are due; any number of workers can do so at the same time."""

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.errors import PhaseRunnerError
from app.db.engine import Sessions
from app.db.models import BacklogItem, Run
from app.db.outages import through_outages
from app.schemas.api.run_details import RunDetail
from app.schemas.api.sprints import SprintCreate
from app.schemas.forges import ForgeOrigin
from app.services.backlog.planning import WaitingItem, plan
from app.services.backlog.reading import in_order, load_facts, load_needs
from app.services.control.idempotency import UNKEYED
from app.services.control.sprints import SprintService
from app.services.record.leases import LEASE, Leases

logger = logging.getLogger(__name__)

_CONSIDERED = 1_000
_FIRST_PAUSE_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 6 * 3600.0
_REASON_CHARS = 300
_LOST = "another worker starts this item, or it was removed"
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


class ClaimLostError(PhaseRunnerError):
    """Another worker starts the item, or the item was removed."""

    status = 409
    code = "claim-lost"
    title = "Another worker starts this"


@dataclass(frozen=True, slots=True)
class _Claimed:
    id: UUID
    request: dict[str, Any]
    origin: dict[str, Any] | None
    created_by: str
    tries: int


async def lock_project(session: AsyncSession, project: str) -> None:
    """Lock a project until the transaction ends, so that only one transaction at a time decides on it."""
    await session.execute(_LOCK, {"name": f"backlog:{project}"})


class BacklogStarter:
    """Starts the items that may start.

    Args:
        sessions: opens short transactions.
        sprints: starts sprints.
    """

    def __init__(self, sessions: Sessions, sprints: SprintService) -> None:
        self._sessions = sessions
        self._sprints = sprints
        # A project's items are claimed together, so the leases only record.
        self._leases = Leases(sessions=sessions, table=BacklogItem, due_at="next_at", make=_Claimed)

    async def __call__(self) -> int:
        """Start the items that may start, and return how many were tried."""
        await self._recover()
        tried = 0
        for project in await self._projects():
            for claimed in await self._claim(project):
                await self._start(claimed)
                tried += 1
        return tried

    async def _projects(self) -> list[str]:
        waiting = select(BacklogItem.project).where(BacklogItem.status == "waiting").distinct()
        async with self._sessions() as session:
            return list(await session.scalars(waiting))

    async def _recover(self) -> None:
        """Put back the items of workers that died; an item whose run exists counts as started."""
        lost = (BacklogItem.status == "starting", BacklogItem.next_at <= func.now())
        runs = select(Run.id)
        async with self._sessions.begin() as session:
            started = update(BacklogItem).where(*lost, BacklogItem.id.in_(runs)).values(status="started")
            await session.execute(started)
            await session.execute(update(BacklogItem).where(*lost).values(status="waiting"))

    async def _claim(self, project: str) -> list[_Claimed]:
        """Decide on all items of a project, and claim those that start."""
        async with self._sessions.begin() as session:
            await lock_project(session, project)
            waiting = select(BacklogItem).where(
                BacklogItem.project == project, BacklogItem.status == "waiting"
            )
            rows = (await session.scalars(in_order(waiting).limit(_CONSIDERED).with_for_update())).all()
            needs = await load_needs(session, [each.id for each in rows])
            candidates = [
                WaitingItem(
                    id=each.id,
                    needs=[needed for _, needed in needs.get(each.id, ())],
                    next_at=each.next_at,
                    problem=each.reason,
                )
                for each in rows
            ]
            now = datetime.now(UTC)
            found = plan(candidates, await load_facts(session, project), now)
            chosen = set(found.start)
            for row in rows:
                if row.id in chosen:
                    row.status, row.tries, row.next_at = "starting", row.tries + 1, now + LEASE
                elif row.reason != found.reasons[row.id]:
                    row.reason = found.reasons[row.id]
            return [
                _Claimed(each.id, each.request, each.origin, each.created_by, each.tries)
                for each in rows
                if each.id in chosen
            ]

    async def _start(self, claimed: _Claimed) -> None:
        try:
            await self._begin(claimed)
        except ClaimLostError as error:
            logger.info("backlog item %s: %s", claimed.id, error.detail)
        except PhaseRunnerError as error:
            await self._postpone(claimed, error.detail)
        except (ValueError, OSError) as error:
            await self._postpone(claimed, str(error))
        except Exception as error:
            # Whatever it is, the items after this one start.
            if isinstance(error, IntegrityError) and await through_outages(partial(self._is_run, claimed.id)):
                logger.info("backlog item %s: another worker started it", claimed.id)
                return
            logger.exception("starting backlog item %s failed", claimed.id)
            await self._postpone(claimed, f"{type(error).__name__}: {error}"[:_REASON_CHARS])

    async def _begin(self, claimed: _Claimed) -> None:
        async def show(session: AsyncSession, run_id: UUID) -> RunDetail:
            # In the transaction that creates the run, so that either both changes are stored or neither.
            if not await self._set(session, claimed, {"status": "started", "reason": ""}):
                raise ClaimLostError(_LOST)
            return await self._sprints.show(session, run_id)

        if not await self._renew(claimed):
            raise ClaimLostError(_LOST)
        request = SprintCreate.model_validate(claimed.request)
        new = replace(self._sprints.prepare(request, claimed.created_by), id=claimed.id)
        if claimed.origin is not None:
            new = replace(new, origin=ForgeOrigin.model_validate(claimed.origin))
        await self._sprints.intake.start(new, show, UNKEYED)

    async def _renew(self, claimed: _Claimed) -> bool:
        """Begin the lease again, because the items before this one took their time."""
        async with self._sessions.begin() as session:
            return await self._set(session, claimed, {"next_at": func.now() + LEASE})

    async def _is_run(self, run_id: UUID) -> bool:
        async with self._sessions() as session:
            return await session.get(Run, run_id) is not None

    async def _postpone(self, claimed: _Claimed, why: str) -> None:
        pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** min(claimed.tries - 1, 20))
        again = datetime.now(UTC) + timedelta(seconds=pause)
        logger.warning("backlog item %s cannot start: %s", claimed.id, why)
        reason = f"it could not start: {why}; tried again at {again:%Y-%m-%d %H:%M} UTC"
        values = {"status": "waiting", "reason": reason, "next_at": again}
        await through_outages(partial(self._record, claimed, values))

    async def _record(self, claimed: _Claimed, values: dict[str, Any]) -> None:
        async with self._sessions.begin() as session:
            await self._set(session, claimed, values)

    async def _set(self, session: AsyncSession, claimed: _Claimed, values: dict[str, Any]) -> bool:
        is_starting = BacklogItem.status == "starting"
        return await self._leases.record_in(session, claimed.id, claimed.tries, values, is_starting)
