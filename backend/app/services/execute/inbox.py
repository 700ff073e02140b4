"""Delivers people's messages to the agents of one attempt."""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Self
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.db.engine import Sessions
from app.realtime.store import Fence
from app.services.record.messages import deliver, delivered_among, due_messages
from app.services.record.transactions import Recorder

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class AttemptInbox:
    """The messages to the agents of an attempt; every candidate gets the same ones.

    Attributes:
        sessions: opens short sessions for reading.
        recorder: opens fenced transactions.
        run_id: the run.
        fence: the right to write to the run.
        claim: the claim of the attempt.
    """

    sessions: Sessions
    recorder: Recorder
    run_id: UUID
    fence: Fence
    claim: UUID
    _told: list[str] = field(default_factory=list[str])
    _offered: dict[UUID, str] = field(default_factory=dict[UUID, str])
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def of(self) -> "CandidateInbox":
        """Return the inbox of one candidate."""
        return CandidateInbox(self)

    async def take(self, *, at_end: bool) -> str | None:
        """Return all messages that are due, for an agent that works alone."""
        return await self.of().take(at_end=at_end)

    async def fetch(self, *, at_end: bool) -> list[str]:
        """Deliver the messages that are due, and return all that were delivered so far.

        Raises:
            FencedOutError: the run belongs to another job.
        """
        async with self._lock:
            async with self.sessions() as session:
                waiting = await due_messages(session, self.run_id, steering_only=not at_end)
            if waiting or self._offered:
                await self._deliver(steering_only=not at_end)
            return self._told

    async def _deliver(self, *, steering_only: bool) -> None:
        async with self.recorder.open_claimed(self.run_id, self.fence, self.claim) as (recording, row):
            # If the reply to an earlier transaction was lost, its messages count as delivered already.
            delivered = await delivered_among(recording.session, self._offered)
            texts = [text for key, text in self._offered.items() if key in delivered]
            found = await due_messages(recording.session, self.run_id, steering_only=steering_only)
            deliver(recording, row, found)
            texts += [each.text for each in found]
            self._offered |= {each.id: each.text for each in found}
        self._offered.clear()
        self._told += texts


@dataclass(slots=True)
class CandidateInbox:
    """The messages to one candidate, which gets each message once."""

    attempt: AttemptInbox
    _seen: int = 0

    def of(self) -> Self:
        """Return this inbox, which already belongs to one candidate."""
        return self

    async def take(self, *, at_end: bool) -> str | None:
        """Return the messages that the candidate has not received; they wait during a database outage."""
        try:
            told = await self.attempt.fetch(at_end=at_end)
        except (SQLAlchemyError, OSError) as error:
            logger.warning("cannot read messages to run %s: %s", self.attempt.run_id, error)
            return None
        news, self._seen = told[self._seen :], len(told)
        return "\n\n".join(news) or None
