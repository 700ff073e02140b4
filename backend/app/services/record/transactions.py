"""Fenced transactions: a writer first proves that the run still belongs to its job."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol
from uuid import UUID

from sqlalchemy import and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.core.events.envelope import Envelope, TypedEventData
from app.core.events.union import Event, event_of
from app.core.tracing import current_trace_id
from app.db.engine import Sessions
from app.db.models import Attempt, Run
from app.db.outages import through_outages
from app.gateway.ledger import Ledger, NoLedger
from app.realtime.store import Batch, Fence, append_batch, append_events
from app.schemas.runs import AttemptState, RunStatus
from app.services.record.accounts import NO_BUDGETS, Accounts
from app.services.record.outbox import NO_WEBHOOKS, Outbox


class EventBell(Protocol):
    """Signals that there are new events to deliver; a signal may be lost."""

    def ring(self, run_id: UUID) -> None:
        """Signal new events of a run, without waiting."""
        ...


WriteOutcome = Callable[["Recording", Attempt], Awaitable[None]]
"""Writes an attempt's outcome in an open transaction; called again if the transaction was lost."""


class FencedOutError(Exception):
    """The run was taken over, paused, cancelled or finished; this worker's outcome is discarded."""


def place_in(run_id: UUID, phase: str | None = None, attempt: int | None = None) -> Envelope:
    """Return the envelope of an event that happens now, with the current trace."""
    return Envelope(
        run_id=run_id, sprint_id=run_id, phase=phase, attempt=attempt, trace_id=current_trace_id()
    )


class Recording:
    """An open transaction on a locked run; its events are appended when it commits."""

    def __init__(
        self,
        session: AsyncSession,
        run: Run,
        outbox: Outbox = NO_WEBHOOKS,
        accounts: Accounts = NO_BUDGETS,
    ) -> None:
        self.session = session
        self.run = run
        self.accounts = accounts
        self._outbox = outbox
        self._events: list[Event] = []

    def tell(self, data: TypedEventData, phase: str | None = None, attempt: int | None = None) -> None:
        """Add an event with this data and the present time."""
        self._events.append(event_of(data, place_in(self.run.id, phase, attempt)))

    async def flush_events(self) -> None:
        """Write the added events; called by `Recorder.open` before the commit."""
        await self.session.flush()
        last = await append_events(self.session, self.run.id, self._events)
        await self._outbox.put(self.session, self.run.id, self._events, last)


class Recorder:
    """Opens recordings for one process.

    Args:
        sessions: opens transactions.
        bell: signals new events.
        outbox: queues messages to other services.
        accounts: adds up what work consumes.
        ledger: holds this process's requests to models.
    """

    def __init__(
        self,
        sessions: Sessions,
        bell: EventBell,
        outbox: Outbox = NO_WEBHOOKS,
        accounts: Accounts = NO_BUDGETS,
        ledger: Ledger | None = None,
    ) -> None:
        self._sessions = sessions
        self._bell = bell
        self._outbox = outbox
        self._accounts = accounts
        self._ledger = ledger or NoLedger()

    async def take(self, run_id: UUID, fence: Fence) -> bool:
        """Give `fence` the right to write to the run.

        Returns:
            False if the run does not exist or a later job already holds it.
        """
        not_later = or_(
            Run.fence_job < fence.job_id,
            and_(Run.fence_job == fence.job_id, Run.fence_try <= fence.attempt),
        )
        statement = (
            update(Run)
            .where(Run.id == run_id, not_later)
            .values(fence_job=fence.job_id, fence_try=fence.attempt, updated_at=Run.updated_at)
            .returning(Run.id)
        )
        async with self._sessions.begin() as session:
            return (await session.execute(statement)).scalar_one_or_none() is not None

    @asynccontextmanager
    async def open(self, run_id: UUID, fence: Fence, *, charges: bool = False) -> AsyncGenerator[Recording]:
        """Open a transaction with the run locked; it commits at the end of the block.

        With `charges`, the runs above a subtask are locked as well, because they pay for it.

        Raises:
            FencedOutError: the run belongs to another job, is paused, or is over.
        """
        async with self._sessions.begin() as session:
            if charges:
                # From the top down, as every writer locks runs; another order could deadlock.
                await self._accounts.lock(session, {run_id})
            run = await session.get(Run, run_id, with_for_update=True)
            if run is None or (run.fence_job, run.fence_try) != (fence.job_id, fence.attempt):
                raise FencedOutError(f"run {run_id} was taken over")
            if RunStatus(run.status).is_final:
                raise FencedOutError(f"run {run_id} is {run.status}")
            if run.paused_at is not None:
                raise FencedOutError(f"run {run_id} is paused")
            recording = Recording(session, run, self._outbox, self._accounts)
            yield recording
            await recording.flush_events()
        self._bell.ring(run_id)

    @asynccontextmanager
    async def open_claimed(
        self, run_id: UUID, fence: Fence, claim: UUID
    ) -> AsyncGenerator[tuple[Recording, Attempt]]:
        """Open a transaction for the outcome of an attempt, whose claim must still be `claim`.

        All model requests so far are stored first, so that the sums are complete.

        Raises:
            FencedOutError: the run belongs to another job, is paused or over, or the
                attempt was claimed again.
        """
        await self._ledger.stored()
        async with self.open(run_id, fence, charges=True) as recording:
            statement = select(Attempt).where(Attempt.claim == claim, Attempt.run_id == run_id)
            attempt = (await recording.session.execute(statement)).scalar_one_or_none()
            if attempt is None:
                raise FencedOutError(f"an attempt of run {run_id} was claimed again")
            yield recording, attempt

    async def outcome(
        self, run_id: UUID, fence: Fence, claim: UUID, state: AttemptState, write: WriteOutcome
    ) -> None:
        """Record the outcome of an attempt; while the database is unavailable, wait for it.

        An outage of a second must not cost an hour of an agent's work. If the attempt has already left
        `state`, an earlier transaction recorded the outcome and only its reply was lost.

        Raises:
            FencedOutError: the run or the attempt belongs to another job.
        """

        async def record() -> None:
            async with self.open_claimed(run_id, fence, claim) as (recording, attempt):
                if attempt.status == state:
                    await write(recording, attempt)

        await through_outages(record)

    async def progress(self, run_id: UUID, fence: Fence, batch: Batch) -> bool:
        """Append progress events in a separate transaction.

        After an error, the caller repeats this with the same batch: the error may mean that only the reply
        was lost, and a batch is stored only once.

        Returns:
            False if the run now belongs to another job, or is over.

        Raises:
            asyncpg.PostgresError: the database is unavailable; also the other errors in `DATABASE_ERRORS`.
        """
        if not await append_batch(self._sessions.direct.fetch_value, run_id, fence, batch):
            return False
        self._bell.ring(run_id)
        return True
