"""Polls forges for labels and commands, if the operator's file says so.

A row holds the time up to which a repository was read. What a poll finds is recorded as a delivery, as if a
webhook had sent it.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert

from app.db.engine import Sessions
from app.db.models import ForgePoll
from app.forges.polling import PolledEvent, PollForge
from app.forges.port import ForgeError
from app.forges.repositories import Member, Members
from app.services.chores.webhooks import pause_after
from app.services.forges.asks import Delivery, record_delivery
from app.services.record.leases import Leases

logger = logging.getLogger(__name__)

_BEFORE_START = timedelta(minutes=5)
"""How far the first poll looks back, because the forge's clock may be behind."""

_LATE = timedelta(hours=1)
"""How far each poll looks back at least, because the forge's clock and its lists may be behind."""

_MAX_PAUSES = 6


@dataclass(frozen=True, slots=True)
class _Due:
    """A poll that was taken."""

    place: str
    forge: str
    repository: str
    since: datetime
    tries: int


class PollChore:
    """Polls the repositories that are due; any number of workers can do so.

    Args:
        sessions: opens short transactions; none is open during a request to a forge.
        members: the repositories that take part.
        forges: adapters that can poll, by name of the forge.
    """

    def __init__(self, sessions: Sessions, members: Members, forges: Mapping[str, PollForge]) -> None:
        self._sessions = sessions
        self._members = members
        self._forges = forges
        self._polled = [each for each in members.every if each.repository.rules.poll_minutes]
        # A repository that is no longer polled keeps its row unchanged.
        self._leases = Leases(
            sessions=sessions,
            table=ForgePoll,
            due_at="next_at",
            make=_Due,
            waits=(ForgePoll.place.in_([_place(each) for each in self._polled]),),
        )

    async def __call__(self) -> int:
        """Poll the repositories that are due, and return how many were tried."""
        if not self._polled:
            return 0
        await self._begin()
        return await self._leases.work(self._attempt, self._postpone)

    async def _begin(self) -> None:
        since = datetime.now(UTC) - _BEFORE_START
        rows = [
            {
                "place": _place(each),
                "forge": each.repository.forge,
                "repository": each.repository.name,
                "since": since,
            }
            for each in self._polled
        ]
        async with self._sessions.begin() as session:
            await session.execute(insert(ForgePoll).values(rows).on_conflict_do_nothing())

    async def _attempt(self, due: _Due) -> None:
        member = self._members.named(due.forge, due.repository)
        if member is None:
            return
        started = datetime.now(UTC)
        try:
            found = await self._found(due, member)
        except ForgeError as error:
            await self._postpone(due, str(error), error.retry_at)
            return
        for each in found:
            await self._take(due, each)
        # The next poll includes the time of the newest one, because others may have happened in the same
        # second. In a quiet repository it does not read everything since the last label again.
        since = max([due.since, started - _LATE, *(each.at for each in found)])
        again = func.now() + timedelta(minutes=member.repository.rules.poll_minutes or 0)
        values: dict[str, Any] = {"since": since, "next_at": again, "tries": 0, "last_error": ""}
        await self._leases.record(due.place, due.tries, values)

    async def _found(self, due: _Due, member: Member) -> Sequence[PolledEvent]:
        forge, rules = self._forges[due.forge], member.repository.rules
        labeled = await forge.labeled_since(due.repository, rules.labels, due.since) if rules.labels else ()
        said = await forge.commented_since(due.repository, due.since) if rules.commands else ()
        return sorted([*labeled, *said], key=lambda each: each.at)

    async def _take(self, due: _Due, found: PolledEvent) -> None:
        digest = hashlib.sha256(json.dumps(found.payload, sort_keys=True).encode())
        delivery = Delivery(
            due.forge, f"poll:{digest.hexdigest()}", found.event, digest.digest(), found.payload
        )
        await record_delivery(self._sessions, self._members, delivery)

    async def _postpone(self, due: _Due, why: str, retry_at: datetime | None = None) -> None:
        pause = timedelta(seconds=pause_after(min(due.tries, _MAX_PAUSES)))
        at = retry_at or datetime.now(UTC) + pause
        logger.warning("cannot poll %s, retrying at %s: %s", due.place, at, why)
        await self._leases.record(due.place, due.tries, {"next_at": at, "last_error": why})


def _place(member: Member) -> str:
    return f"{member.repository.forge} {member.repository.name.lower()}"
