"""Starts runs for the tests of the pages, and lets agents say more than scripts can."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.db.engine import create_engine, create_sessions, plain_url
from app.realtime.store import append_events
from tests.acceptance.projects import DISCOVERY, WORSE, script, step, write
from tests.acceptance.server import ok, until_rest

LINES_PER_EVENT = 200

# One attempt of one phase whose gates take no time; where only the page is looked at, that is enough.
_QUICK: dict[str, Any] = {"phases": ["discovery"], "policy": {"max_attempts": 1}}
# Coding is judged by every gate, in one attempt, until somebody says what to do.
MENDS_WHEN_HELPED = script(
    step("Try 1. Coding Complete", write("shares.py", WORSE)),
    step(
        "Told what to do. Coding Complete",
        write("shares.py", WORSE.replace("import os\n\n\n", "").replace("4", "2")),
        expects=["divide by two"],
    ),
)


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


def play(client: httpx.Client, path: str, phases: dict[str, Any], **body: Any) -> str:
    """Start a loop or an answer that is played from a script, and wait for its end; gives its id."""
    agent = {"backend": "scripted", "script": {"title": "test", "phases": phases}}
    started: str = ok(client.post(path, json={**body, "agent": agent}))["id"]
    until_rest(client, started)
    return started


def complete(client: httpx.Client, repo: Path, *, name: str) -> str:
    """A sprint that has passed; gives its id."""
    sprint = start(client, repo, _discovers(DISCOVERY), name=name, **_QUICK)
    assert until_rest(client, sprint)["status"] == "completed"
    return sprint


def escalate(client: httpx.Client, repo: Path, *edits: dict[str, Any], name: str, **more: Any) -> str:
    """A sprint whose only attempt made these edits and no plan, and that waits for a person; gives its id."""
    without_plan = step("No plan. Discovery Complete", *edits or (write("half.md", "half\n"),))
    sprint = start(client, repo, _discovers([without_plan, *DISCOVERY]), name=name, **(_QUICK | more))
    assert until_rest(client, sprint)["status"] == "waiting"
    return sprint


def _discovers(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"backend": "scripted", "script": {"title": "test", "phases": {"discovery": list(steps)}}}


def escalation_of(client: httpx.Client, sprint: str) -> str:
    """The id of what a sprint waits for."""
    found: str = ok(client.get(f"/runs/{sprint}"))["escalation_id"]
    return found


def resolve_all(client: httpx.Client) -> None:
    """Nothing waits for a person any more."""
    for each in ok(client.get("/escalations", params={"status": "open"}))["items"]:
        ok(client.post(f"/escalations/{each['id']}/resolve", json={"decision": "reject"}))


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
