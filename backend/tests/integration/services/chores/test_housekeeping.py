"""Retention: what goes, what stays, and that nobody who resumes finds a gap."""

import json
import os
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import select, text

from app.core.event_frames import ResumeMode
from app.core.events.agents import (
    AgentProgressData,
    AgentProgressEvent,
    ProgressLine,
    ToolCalledEvent,
    ToolData,
)
from app.core.events.runs import RunCancelledData, RunCancelledEvent
from app.core.events.union import EVENT_ADAPTER
from app.db.engine import plain_url
from app.db.models import EventRow, ForgeReport, Snapshot, WebhookDelivery
from app.realtime.reader import EventReader
from app.realtime.store import append_events
from app.services.chores.housekeeping import Housekeeping, Retention, Trimmed
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio

DAYS = Retention(progress_days=10, snapshot_days=20, snapshot_bytes=10**9, directory_days=5)


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path) as opened:
        yield opened


def keeper(cases: UseCases, retention: Retention = DAYS) -> Housekeeping:
    return Housekeeping(cases.sessions, cases.store, retention)


async def ended(cases: UseCases, days: float | None, size: int = 100) -> UUID:
    """A run that ended so many days ago, or goes on, with progress, files and a directory."""
    at = None if days is None else datetime.now(UTC) - timedelta(days=days)
    run_id = await cases.rows.run(status="active" if days is None else "cancelled", finished_at=at)
    line = ProgressLine(text="a secret thought", at=datetime.now(UTC))
    here: dict[str, Any] = {"run_id": run_id, "sprint_id": run_id}
    events = [
        AgentProgressEvent(**here, data=AgentProgressData(lines=[line])),
        ToolCalledEvent(**here, data=ToolData(tool="write_file", text="a.py")),
        RunCancelledEvent(**here, data=RunCancelledData(by="ada")),
    ]
    async with cases.sessions.begin() as session:
        await append_events(session, run_id, events)
        session.add(Snapshot(run_id=run_id, commit="0" * 40, kind="base", bundle=b"x" * size))
    (cases.data_dir / "runs" / str(run_id)).mkdir(parents=True)
    return run_id


async def kept_files(cases: UseCases) -> set[UUID]:
    async with cases.sessions() as session:
        return set(await session.scalars(select(Snapshot.run_id)))


async def test_what_goes_by_age_and_what_stays(cases: UseCases) -> None:
    runs = {days: await ended(cases, days) for days in (None, 1, 7, 15, 25)}
    expected = Trimmed(progress=2, snapshots=1, snapshot_bytes=100, directories=3)
    assert await keeper(cases).look() == expected
    assert await kept_files(cases) == set(runs.values()), "looking changes nothing"
    changed = {each: (await cases.rows.get(each)).updated_at for each in runs.values()}

    assert await keeper(cases).trim() == expected
    assert await keeper(cases).trim() == Trimmed()
    assert await kept_files(cases) == {runs[days] for days in (None, 1, 7, 15)}
    assert set(await cases.store.runs_on_disk()) == {runs[None], runs[1]}
    assert await cases.rows.count("runs") == 5
    assert await cases.rows.count("events") == 15
    assert {each: (await cases.rows.get(each)).updated_at for each in runs.values()} == changed


async def test_directories_that_no_run_has_go_after_a_day(cases: UseCases) -> None:
    run_id = await ended(cases, None)
    runs = cases.data_dir / "runs"
    old, fresh, in_use = (runs / str(uuid4()) for _ in range(3))
    elsewhere, named = runs / "not-a-run", runs / str(run_id)
    link = runs / str(uuid4())
    link.symlink_to(elsewhere)
    for each in (old, fresh, in_use, elsewhere, named):
        (each / "repo.git" / "objects").mkdir(parents=True, exist_ok=True)
        (each / "repo.git" / "HEAD").write_text("ref: refs/heads/main\n")
    age(runs, hours=25, but=(fresh, in_use / "repo.git" / "HEAD"))
    assert await keeper(cases).look() == Trimmed(orphans=1)
    assert old.exists(), "looking changes nothing"
    assert await keeper(cases).trim() == Trimmed(orphans=1)
    assert set(runs.iterdir()) == {fresh, in_use, elsewhere, named, link}
    age(runs, hours=23)
    assert await keeper(cases).look() == Trimmed()


def age(directory: Path, hours: float, but: tuple[Path, ...] = ()) -> None:
    """Let everything in a directory be so many hours old."""
    at = (datetime.now(UTC) - timedelta(hours=hours)).timestamp()
    for each in sorted(directory.rglob("*"), reverse=True):
        if each not in but:
            os.utime(each, (at, at), follow_symlinks=False)


async def test_progress_is_emptied_and_no_number_is_missing(cases: UseCases, database_url: str) -> None:
    run_id = await ended(cases, 15)
    await keeper(cases).trim()
    async with cases.sessions() as session:
        rows = list(await session.scalars(select(EventRow).order_by(EventRow.sequence)))
    assert [each.data for each in rows] == [
        {"lines": [], "candidate": 0},
        {"tool": "write_file", "text": "", "candidate": 0},
        {"by": "ada", "reason": ""},
    ]
    async with asyncpg.create_pool(plain_url(database_url), min_size=1, max_size=1) as pool:
        reader = EventReader(pool)
        head = await reader.head(run_id)
        assert head is not None
        for after in range(4):
            assert head.start(after).mode is ResumeMode.RESUMED
            found = [json.loads(each.wire) for each in await reader.read(run_id, after, 10)]
            assert [each["sequence"] for each in found] == list(range(after + 1, 4))
            assert all(EVENT_ADAPTER.validate_python(each) for each in found)


async def test_files_stay_at_any_age_while_their_pull_request_is_open(cases: UseCases) -> None:
    names = ("open", "round of the open one", "merged", "round of the merged one", "never offered")
    runs = {name: await ended(cases, 25 + number) for number, name in enumerate(names)}
    here: dict[str, Any] = {"forge": "f", "repository": "r"}
    async with cases.sessions.begin() as session:
        session.add(ForgeReport(run_id=runs["open"], pull_number=1, **here))
        session.add(ForgeReport(run_id=runs["merged"], pull_number=2, outcome="merged", **here))
        session.add(ForgeReport(run_id=runs["never offered"], **here))
        await session.flush()
        for name in ("open", "merged"):
            of = runs[f"round of the {name} one"]
            session.add(ForgeReport(run_id=of, root_run_id=runs[name], **here))
    assert (await keeper(cases).trim()).snapshots == 3
    assert await kept_files(cases) == {runs["open"], runs["round of the open one"]}
    small = Retention(progress_days=10, snapshot_days=20, snapshot_bytes=150, directory_days=5)
    assert (await keeper(cases, small).trim()).snapshots == 1
    assert await kept_files(cases) == {runs["open"]}, "the size is a bound for all"


async def test_files_go_by_size_the_oldest_first(cases: UseCases) -> None:
    running = await ended(cases, None, 10_000)
    runs = {days: await ended(cases, days, 100) for days in (4, 3, 2, 1)}
    small = Retention(progress_days=10, snapshot_days=20, snapshot_bytes=250, directory_days=5)
    assert (await keeper(cases, small).trim()).snapshots == 2
    assert await kept_files(cases) == {running, runs[2], runs[1]}


async def test_answers_and_messages_and_jobs(cases: UseCases) -> None:
    run_id = await cases.rows.run()
    async with cases.sessions.begin() as session:
        for days in (1, 8):
            await session.execute(
                text(
                    "INSERT INTO idempotency_keys (key, route, request_digest, status, body, created_at) "
                    "VALUES (:key, 'r', '', 200, '{}', now() - make_interval(days => :days))"
                ),
                {"key": str(days), "days": days},
            )
        for days in (1, 31):
            at = datetime.now(UTC) - timedelta(days=days)
            message = {"run_id": run_id, "sequence": days, "event": "e", "url": "u", "created_at": at}
            session.add(WebhookDelivery(**message))
        for status in ("todo", "failed"):
            await session.execute(
                text(
                    "INSERT INTO procrastinate_jobs (queue_name, task_name, status, args) "
                    "VALUES ('q', 't', CAST(:status AS procrastinate_job_status), '{}')"
                ),
                {"status": status},
            )
    expected = Trimmed(answers=1, messages=1, jobs=1)
    assert await keeper(cases).look() == expected
    assert await keeper(cases).trim() == expected
    assert await keeper(cases).trim() == Trimmed()


async def test_many_workers_at_once(cases: UseCases) -> None:
    for _ in range(5):
        await ended(cases, 30)
    assert all(isinstance(each, Trimmed) for each in await at_once(*(keeper(cases).trim() for _ in range(4))))
    assert await keeper(cases).look() == Trimmed()
