"""Starts sprints for the tests of the pages, and lets agents say more than scripts can."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from app.core.event_data import AgentProgressData, ProgressLine
from app.core.websocket_events import AgentProgressEvent
from app.db.engine import create_engine, create_sessions, plain_url
from app.realtime.store import append_events
from tests.acceptance.server import ok

LINES_PER_EVENT = 200


def start(client: httpx.Client, repo: Path, agent: dict[str, Any], **more: Any) -> str:
    """Start a sprint on a local repository; gives its id."""
    body = {
        "goal": "Make the failing test pass.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": agent,
        **more,
    }
    started: str = ok(client.post("/sprints", json=body))["id"]
    return started


def append_lines(database_url: str, run_id: str, lines: Sequence[str]) -> None:
    """Store lines of an agent's log as a worker stores them."""
    # Playwright has an event loop in this thread already.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _append(database_url, UUID(run_id), lines)).result()


async def _append(database_url: str, run_id: UUID, lines: Sequence[str]) -> None:
    engine = create_engine(plain_url(database_url), pool_size=1)
    now = datetime.now(UTC)
    events = [
        AgentProgressEvent(
            run_id=run_id,
            sprint_id=run_id,
            phase="coding",
            attempt=1,
            data=AgentProgressData(
                lines=[ProgressLine(text=line, at=now) for line in lines[at : at + LINES_PER_EVENT]]
            ),
        )
        for at in range(0, len(lines), LINES_PER_EVENT)
    ]
    try:
        async with create_sessions(engine)() as session, session.begin():
            await append_events(session, run_id, events)
    finally:
        await engine.dispose()
