"""Stores the ledger of model requests in batches, so that no request waits for the database."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError

from app.db.engine import Sessions
from app.db.models import ModelRequestRow
from app.db.outages import PAUSE_SECONDS, is_outage
from app.gateway.ledger import ModelRequest
from app.schemas.text import storable_text
from app.services.record.accounts import Accounts, Amounts, Entry
from app.services.record.transactions import EventBell

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.25
MAX_BATCH = 200
MAX_WAITING = 20_000
LAST_SECONDS = 5.0
"""How long the end of a process waits for an unavailable database."""


class RequestLedger:
    """Holds model requests in memory until they are stored; implements `app.gateway.ledger.Ledger`.

    Requests wait while the database is unavailable. Beyond `MAX_WAITING`, the newest are dropped and counted.

    Args:
        sessions: opens transactions.
        accounts: adds up what the requests consume.
        bell: signals warnings that a budget is nearly spent; None signals none.
    """

    def __init__(
        self, sessions: Sessions, accounts: Accounts | None = None, bell: EventBell | None = None
    ) -> None:
        self._sessions = sessions
        self._accounts = accounts or Accounts()
        self._bell = bell
        self._flushing = asyncio.Lock()
        self._waiting: list[tuple[UUID, ModelRequest]] = []
        self._dropped = 0
        self._singly = 0
        self._more = asyncio.Event()
        self._stopped = asyncio.Event()

    def record(self, request: ModelRequest) -> None:
        """Add a request without waiting."""
        if len(self._waiting) >= MAX_WAITING:
            self._dropped += 1
            return
        # The key makes it harmless to repeat a batch whose reply was lost.
        self._waiting.append((uuid4(), request))
        self._more.set()

    async def pump(self) -> None:
        """Store requests as they come, until `stop` is called and all are stored."""
        while True:
            await self._flush()
            if self._stopped.is_set() and not self._waiting:
                return
            if self._waiting:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            await self._more.wait()
            self._more.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._stopped.wait()

    async def stored(self) -> None:
        """Wait until all requests so far are stored, even if the database is unavailable meanwhile."""
        last = self._waiting[-1] if self._waiting else None
        while last is not None and last in self._waiting:
            await self._flush()
            if last in self._waiting:
                await asyncio.sleep(PAUSE_SECONDS)

    def stop(self) -> None:
        """Make `pump` end."""
        self._stopped.set()
        self._more.set()

    async def _flush(self) -> None:
        async with self._flushing:
            await self._store_waiting()

    async def _store_waiting(self) -> None:
        while self._waiting:
            batch = self._waiting[: 1 if self._singly else MAX_BATCH]
            try:
                await self._store(batch)
            except (SQLAlchemyError, OSError) as error:
                if is_outage(error):
                    logger.warning("cannot record model requests: %s", type(error).__name__)
                    return
                if len(batch) > 1:
                    # A single request that is refused, such as one of a deleted run,
                    # must not cost the others.
                    self._singly = len(batch)
                    continue
                logger.exception("could not record a model request; it is missing from the ledger")
            self._singly = max(0, self._singly - 1)
            del self._waiting[: len(batch)]
        if self._dropped:
            logger.error(
                "the database was unavailable; %d model requests are missing from the ledger", self._dropped
            )
            self._dropped = 0

    async def _store(self, batch: Sequence[tuple[UUID, ModelRequest]]) -> None:
        row = ModelRequestRow
        statement = insert(row).on_conflict_do_nothing(index_elements=["id"]).returning(row.id)
        async with self._sessions.begin() as session:
            labels = [request.labels.run_id for _, request in batch]
            runs = await self._accounts.lock(session, {each for each in labels if each is not None})
            found = await session.scalars(statement, [_values(key, request) for key, request in batch])
            # A batch whose reply was lost is already stored and included in the sums.
            new = set(found.all())
            entries = [_entry(request) for key, request in batch if key in new]
            told = await self._accounts.enter(session, runs, entries)
        self._ring(told)

    def _ring(self, run_ids: Collection[UUID]) -> None:
        if self._bell is not None:
            for run_id in run_ids:
                self._bell.ring(run_id)


def _entry(request: ModelRequest) -> Entry:
    labels, tokens = request.labels, request.tokens
    amounts = Amounts(1, tokens.input or 0, tokens.output or 0, request.cost.dollars)
    return Entry(labels.run_id, labels.phase, labels.attempt, request.at, amounts)


def _values(key: UUID, request: ModelRequest) -> dict[str, Any]:
    labels, tokens, cost = request.labels, request.tokens, request.cost
    return {
        "id": key,
        "run_id": labels.run_id,
        "phase": labels.phase,
        "attempt": labels.attempt,
        "candidate": labels.candidate,
        "role": labels.role.value,
        "provider": request.provider,
        "model": storable_text(request.model),
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cached_tokens": tokens.cache_read,
        "cost_usd": cost.dollars,
        "cost_kind": cost.kind.value,
        "status": request.status,
        "latency_ms": request.latency_ms,
        "at": request.at,
    }


@asynccontextmanager
async def open_ledger(
    sessions: Sessions, accounts: Accounts | None = None, bell: EventBell | None = None
) -> AsyncGenerator[RequestLedger]:
    """Store model requests in the background while the block runs, and what is left at its end."""
    ledger = RequestLedger(sessions, accounts, bell)
    pump = asyncio.create_task(ledger.pump())
    try:
        yield ledger
    finally:
        ledger.stop()
        _, late = await asyncio.wait({pump}, timeout=LAST_SECONDS)
        if late:
            logger.error("the database is unavailable; the last model requests are missing from the ledger")
            pump.cancel()
            await asyncio.wait({pump})
