"""Builds event delivery for one process and keeps it running."""

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import asyncpg

from app.realtime.background import in_background
from app.realtime.doorbell import Connect, Connection, Doorbell
from app.realtime.hub import Hub, HubLimits
from app.realtime.inbox import HintInbox
from app.realtime.listener import Listener, ListenerTimings
from app.realtime.reader import EventReader
from app.realtime.run_list import ReadStates, RunList
from app.realtime.tailer import Tailer


@dataclass(frozen=True, slots=True)
class RealtimeTimings:
    """Periods in seconds: of polling, which makes up for lost bells, and of sending changes to lists."""

    poll: float = 1.0
    run_list: float = 0.5
    listener: ListenerTimings = field(default_factory=ListenerTimings)


@dataclass(frozen=True, slots=True)
class Realtime:
    """Event delivery of one process: ring `doorbell` after commits, follow runs through `hub`."""

    doorbell: Doorbell
    hub: Hub
    reader: EventReader


@asynccontextmanager
async def open_realtime(
    database_url: str,
    read_states: ReadStates,
    *,
    timings: RealtimeTimings | None = None,
    limits: HubLimits | None = None,
    pool_size: int = 4,
) -> AsyncGenerator[Realtime]:
    """Deliver events while the block runs. The database need not be available yet.

    Args:
        database_url: `postgresql://…`, without a SQLAlchemy driver.
        read_states: reads runs as lists show them.
        timings: periods of its loops.
        limits: bounds on clients.
        pool_size: connections for reading, beside one that rings and one that listens.
    """
    timings = timings or RealtimeTimings()
    limits = limits or HubLimits()
    connect = connector(database_url)
    async with asyncpg.create_pool(
        database_url,
        min_size=0,
        max_size=pool_size,
        command_timeout=30,
        server_settings={"application_name": "phaserunner-events", "jit": "off"},
    ) as pool:
        reader = EventReader(pool)
        doorbell = Doorbell(connect)
        for_runs, for_list = HintInbox(timings.poll), HintInbox(timings.poll)
        run_list = RunList(reader, read_states, for_list, pace_seconds=timings.run_list)
        hub = Hub(reader, run_list, limits, on_watch=lambda run_id: for_runs.ring([run_id]))

        def hear(run_ids: Collection[UUID] | None) -> None:
            for inbox in (for_runs, for_list):
                if run_ids is None:
                    inbox.ring_everywhere()
                else:
                    inbox.ring(run_ids)

        listener = Listener(connect, hear, timings.listener)
        tailer = Tailer(reader, hub, for_runs, batch=limits.pace.batch)
        async with in_background(doorbell.run, listener.run, tailer.run, run_list.run):
            try:
                yield Realtime(doorbell, hub, reader)
            finally:
                hub.close()


@asynccontextmanager
async def open_doorbell(database_url: str) -> AsyncGenerator[Doorbell]:
    """Ring while the block runs; enough for a process that writes events and serves no clients."""
    doorbell = Doorbell(connector(database_url))
    async with in_background(doorbell.run):
        yield doorbell


def connector(database_url: str) -> Connect:
    """Return a function that makes single connections to the database, outside of any pool."""

    async def connect() -> Connection:
        return await asyncpg.connect(
            database_url,
            timeout=10,
            command_timeout=30,
            # A bell is a hint, so its transaction need not wait for the disk.
            server_settings={
                "application_name": "phaserunner-bell",
                "jit": "off",
                "synchronous_commit": "off",
            },
        )

    return connect
