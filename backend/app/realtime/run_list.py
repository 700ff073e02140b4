"""Tells lists of runs what has changed: the latest state of each changed run, not too often."""

import asyncio
import logging
from collections.abc import Iterable
from uuid import UUID

from app.core.event_frames import RunFrame, RunState
from app.realtime.inbox import Bell, Inbox
from app.realtime.reader import DATABASE_ERRORS, EventReader
from app.schemas.runs import RunStatus

logger = logging.getLogger(__name__)


class RunListFollower:
    """One list. A slow client gets the latest state of each changed run, never a queue of old ones."""

    def __init__(self) -> None:
        self._waiting: dict[UUID, bytes] = {}
        self._changed = asyncio.Event()

    def put(self, run_id: UUID, frame: bytes) -> None:
        """Take the latest state of a run; it replaces one that was not fetched yet."""
        self._waiting[run_id] = frame
        self._changed.set()

    async def fetch(self) -> list[bytes]:
        """Wait for changes and take them all."""
        await self._changed.wait()
        self._changed.clear()
        frames = list(self._waiting.values())
        self._waiting.clear()
        return frames


class RunList:
    """Watches all runs while somebody follows; `run` watches until cancelled.

    Bells name changed runs. A lost bell is made good by a poll of the runs that are not over: those whose
    state differs from the one last told, and those that are no longer among them.
    """

    def __init__(self, reader: EventReader, inbox: Inbox, *, pace_seconds: float) -> None:
        self._reader = reader
        self._inbox = inbox
        self._pace_seconds = pace_seconds
        self._told: dict[UUID, RunState] = {}
        self._followers: dict[RunListFollower, None] = {}

    def join(self, follower: RunListFollower) -> None:
        """Tell `follower` of every change from now on."""
        self._followers[follower] = None
        self._inbox.ring_everywhere()

    def leave(self, follower: RunListFollower) -> None:
        """Tell it no more."""
        self._followers.pop(follower, None)
        if not self._followers:
            self._told.clear()

    async def run(self) -> None:
        """Look at each hint, but not more often than every `pace_seconds`."""
        while True:
            bell = await self._inbox.take()
            if self._followers:
                try:
                    self._tell(await self._look(bell))
                except DATABASE_ERRORS as error:
                    logger.warning("the list of runs cannot be read, trying again: %s", error)
                    self._inbox.ring_everywhere()
            await asyncio.sleep(self._pace_seconds)

    async def _look(self, bell: Bell) -> list[RunState]:
        if not bell.everywhere:
            return await self._reader.states(bell.run_ids)
        unfinished = await self._reader.unfinished()
        gone = (self._told.keys() | bell.run_ids) - {state.run_id for state in unfinished}
        return unfinished + (await self._reader.states(gone) if gone else [])

    def _tell(self, states: Iterable[RunState]) -> None:
        for state in states:
            if self._told.get(state.run_id) == state:
                continue
            frame = RunFrame(run=state).wire()
            for follower in self._followers:
                follower.put(state.run_id, frame)
            self._remember(state)

    def _remember(self, state: RunState) -> None:
        if RunStatus(state.status).is_final:
            self._told.pop(state.run_id, None)
        else:
            self._told[state.run_id] = state
