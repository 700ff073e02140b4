"""Turns an agent's progress into stored events, in batches, so that watching costs little."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg

from app.agents.port import AgentProgress, ProgressKind, ReportProgress
from app.core.events.agents import (
    AgentProgressData,
    AgentProgressEvent,
    ProgressLine,
    ToolCalledEvent,
    ToolData,
    ToolResultEvent,
)
from app.core.events.union import Event
from app.db.outages import PAUSE_SECONDS, is_outage
from app.realtime.reader import DATABASE_ERRORS
from app.realtime.store import Batch
from app.schemas.text import storable_text
from app.services.record.transactions import place_in

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.1
MAX_BATCH = 200
MAX_WAITING = 5_000

# Of a text that JSON or Postgres cannot hold.
_UNSTORABLE = (ValueError, asyncpg.DataError)

StoreBatch = Callable[[Batch], Awaitable[bool]]


class ProgressBatcher:
    """Collects progress without waiting and stores it every tenth of a second.

    Progress informs people who watch and affects no decision. If the database cannot keep up, further lines
    are dropped and counted. A batch that cannot be stored at all is dropped and logged.
    """

    def __init__(self, run_id: UUID, phase: str, attempt: int, store: StoreBatch) -> None:
        self._run_id = run_id
        self._place = place_in(run_id, phase, attempt)
        self._store = store
        self._waiting: list[tuple[int, AgentProgress] | Event] = []
        self._dropped = 0
        self._batch: tuple[int, Batch] | None = None
        self._more = asyncio.Event()
        self._stopped = asyncio.Event()
        self._is_patient = False

    def reporter(self, candidate: int = 0) -> ReportProgress:
        """Return a function that receives the progress of one candidate."""

        def report(progress: AgentProgress) -> None:
            if len(self._waiting) < MAX_WAITING:
                self._waiting.append((candidate, progress))
            else:
                self._dropped += 1
            self._more.set()

        return report

    def add(self, event: Event) -> None:
        """Add an event in order among the progress; however many wait, none is dropped."""
        self._waiting.append(event)
        self._more.set()

    async def pump(self) -> None:
        """Store batches until `stop` is called or the run belongs to another job."""
        while await self._flush():
            if not self._stopped.is_set():
                await self._more.wait()
                self._more.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(FLUSH_SECONDS):
                        await self._stopped.wait()
            elif self._waiting and self._is_patient:
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                return

    def stop(self, *, patiently: bool) -> None:
        """Let `pump` store the rest and end; with `patiently`, it waits for an unavailable database."""
        self._is_patient = patiently
        self._stopped.set()
        self._more.set()

    async def _flush(self) -> bool:
        while self._waiting:
            # A failed batch is repeated under its key: it may be stored already, with only the reply lost.
            taken, batch = self._batch = self._batch or self._next_batch()
            try:
                is_mine = await self._store(batch)
            except _UNSTORABLE as error:
                # It would fail again, and keep back all that comes after it.
                logger.warning("progress of run %s cannot be stored and is dropped: %s", self._run_id, error)
                is_mine = True
            except DATABASE_ERRORS as error:
                # A failure here must not end the work that is reported on; the batch is tried
                # again with the next line.
                logger.warning("cannot store progress of run %s: %s", self._run_id, error)
                self._is_patient &= is_outage(error)
                return True
            if not is_mine:
                return False
            self._batch = None
            del self._waiting[:taken]
        return True

    def _next_batch(self) -> tuple[int, Batch]:
        taken = self._waiting[:MAX_BATCH]
        return len(taken), Batch(self._events(taken))

    def _events(self, batch: Sequence[tuple[int, AgentProgress] | Event]) -> list[Event]:
        events: list[Event] = []
        lines: list[ProgressLine] = []
        speaker = 0
        if self._dropped:
            lines.append(_gap(self._dropped))
            self._dropped = 0
        for each in batch:
            spoken = each if isinstance(each, tuple) and each[1].kind is ProgressKind.TEXT else None
            if lines and (spoken is None or spoken[0] != speaker):
                events.append(self._said(speaker, lines))
                lines = []
            if spoken is not None:
                speaker, progress = spoken
                lines.append(ProgressLine(text=storable_text(progress.text), at=progress.at))
            else:
                events.append(self._used_tool(*each) if isinstance(each, tuple) else each)
        if lines:
            events.append(self._said(speaker, lines))
        return events

    def _said(self, candidate: int, lines: list[ProgressLine]) -> Event:
        return AgentProgressEvent(
            **self._at(lines[-1].at),
            data=AgentProgressData(lines=lines, candidate=candidate),
        )

    def _at(self, time: datetime) -> dict[str, Any]:
        return dict(self._place.model_copy(update={"timestamp": time}))

    def _used_tool(self, candidate: int, progress: AgentProgress) -> Event:
        kind = ToolCalledEvent if progress.kind is ProgressKind.TOOL_CALL else ToolResultEvent
        return kind(
            **self._at(progress.at),
            data=ToolData(
                tool=storable_text(progress.tool or "tool"),
                text=storable_text(progress.text),
                candidate=candidate,
            ),
        )


def _gap(lines: int) -> ProgressLine:
    text = f"[{lines} lines were dropped: they came faster than they could be stored]"
    return ProgressLine(text=text, at=datetime.now(UTC))


@asynccontextmanager
async def storing_progress(batcher: ProgressBatcher) -> AsyncGenerator[ProgressBatcher]:
    """Store progress in the background while the block runs, and all that is left at its end."""
    pump = asyncio.create_task(batcher.pump())
    try:
        yield batcher
    except BaseException:
        batcher.stop(patiently=False)
        await pump
        raise
    batcher.stop(patiently=True)
    await pump
