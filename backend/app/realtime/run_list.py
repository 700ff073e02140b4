"""Sends changes of runs to lists: the latest state of each changed run, at a limited rate."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from app.core.event_frames import RUNS, ResumeMode, RunFrame, RunGoneFrame, SubscribedFrame
from app.realtime.inbox import Hint, HintInbox
from app.realtime.reader import DATABASE_ERRORS, Mark, until_readable
from app.schemas.api.runs import ListedRun
from app.schemas.runs import RunStatus

logger = logging.getLogger(__name__)

ReadStates = Callable[[Collection[UUID]], Awaitable[Sequence[ListedRun]]]
"""Returns the states of those runs that exist, as lists over HTTP show them; raises `DATABASE_ERRORS`."""


_START_OVER = SubscribedFrame(run=RUNS, mode=ResumeMode.RESET).wire()


class Marks(Protocol):
    """Tells which runs exist, and which of them have changed."""

    async def epoch(self) -> str:
        """Return the epoch of the runs."""
        ...

    async def marks(self) -> Mapping[UUID, Mark]:
        """Return the mark of every run that is not over or is younger than a minute."""
        ...


class RunListFollower:
    """One list. A slow client gets the latest state of each changed run, never a queue of old ones."""

    def __init__(self) -> None:
        self._waiting: dict[UUID | None, bytes] = {}
        self._changed = asyncio.Event()

    def put(self, run_id: UUID | None, frame: bytes) -> None:
        """Store the latest frame of a run (None: of the list) in place of one that was not fetched yet."""
        self._waiting[run_id] = frame
        self._changed.set()

    async def fetch(self) -> list[bytes]:
        """Wait for changes, and return all of them."""
        await self._changed.wait()
        self._changed.clear()
        frames = list(self._waiting.values())
        self._waiting.clear()
        return frames


class RunList:
    """Watches all runs while there are followers; `run` watches until cancelled.

    Bells name changed runs. To make up for lost bells, a poll reads the marks of all runs that are not over.
    Runs are read and sent if their mark differs from the last one seen, or if they are no longer among these
    runs. The cost of a poll grows with the number of runs that are not over, by one small row each.
    """

    def __init__(
        self, reader: Marks, read_states: ReadStates, inbox: HintInbox, *, pace_seconds: float
    ) -> None:
        self._reader = reader
        self._read_states = read_states
        self._inbox = inbox
        self._pace_seconds = pace_seconds
        self._seen: dict[UUID, Mark] | None = None
        self._epoch = ""
        self._first_look = asyncio.Lock()
        self._followers: dict[RunListFollower, None] = {}

    async def join(self, follower: RunListFollower) -> None:
        """Send `follower` all changes that are committed after this returns, and perhaps earlier ones."""
        self._followers[follower] = None
        async with self._first_look:
            if self._seen is None:
                self._epoch = await until_readable(self._reader.epoch, pause_seconds=self._pace_seconds)
                self._seen = dict(await until_readable(self._reader.marks, pause_seconds=self._pace_seconds))
                self._inbox.ring_everywhere()

    def leave(self, follower: RunListFollower) -> None:
        """Stop sending changes to `follower`."""
        self._followers.pop(follower, None)
        if not self._followers:
            self._seen = None

    async def run(self) -> None:
        """React to each hint, but at most once every `pace_seconds`."""
        while True:
            bell = await self._inbox.take()
            if self._seen is not None:
                try:
                    await self._look(bell, self._seen)
                except DATABASE_ERRORS as error:
                    logger.warning("cannot read the list of runs, retrying: %s", error)
                    self._inbox.ring_everywhere()
            await asyncio.sleep(self._pace_seconds)

    async def _look(self, bell: Hint, seen: dict[UUID, Mark]) -> None:
        changed = set(bell.run_ids)
        if bell.everywhere:
            await self._compare_epochs()
            marks = await self._reader.marks()
            changed |= {run_id for run_id, mark in marks.items() if seen.get(run_id) != mark}
            changed |= _drop_the_old(seen, marks)
        if not changed:
            return
        states = await self._read_states(changed)
        for state in states:
            self._tell(state, seen)
        for run_id in changed - {state.id for state in states}:
            if seen.pop(run_id, None) is not None:
                self._put(run_id, RunGoneFrame(run=run_id).wire())

    async def _compare_epochs(self) -> None:
        epoch = await self._reader.epoch()
        if epoch != self._epoch:
            self._epoch = epoch
            self._put(None, _START_OVER)

    def _tell(self, state: ListedRun, seen: dict[UUID, Mark]) -> None:
        mark = Mark(state.status, state.last_sequence, state.version)
        if seen.get(state.id) == mark:
            return
        self._put(state.id, RunFrame.of(state).wire())
        seen[state.id] = mark

    def _put(self, run_id: UUID | None, frame: bytes) -> None:
        for follower in self._followers:
            follower.put(run_id, frame)


def _drop_the_old(seen: dict[UUID, Mark], marks: Mapping[UUID, Mark]) -> set[UUID]:
    """Drop runs that were over and are missing in `marks`; return the missing ones that were not over."""
    missing = seen.keys() - marks.keys()
    over = {run_id for run_id in missing if RunStatus(seen[run_id].status).is_final}
    for run_id in over:
        del seen[run_id]
    return missing - over
