"""Kills workers at random under a load of sprints, and counts what was lost or done twice."""

import asyncio
import random
import time
from pathlib import Path
from uuid import UUID

import logfire
from sqlalchemy import text

from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from app.jobs.worker import WorkerTimings
from benchmarks.figures import Series
from harness.invariants import run_violations
from harness.stage import Stage, open_stage

TITLE = "kills: 20 random kill -9 of workers in a load of 50 sprints, default settings"
SPRINTS, KILLS, WORKERS, AT_ONCE = 50, 20, 3, 2
AGENT_SECONDS = 2.0
TARGET_SECONDS = 10.0

POLL_SECONDS = 0.1

_JOB = text("SELECT max(id) FROM procrastinate_jobs WHERE lock = :run")
_LENIENT = text("UPDATE runs SET policy = jsonb_set(policy, '{max_lost_workers}', '100')")


async def measure(place: Path) -> list[Series]:
    """Kill a worker that works, again and again; give how long it took until its runs had new jobs.

    Whichever worker is free next takes such a job, before those of runs that have not begun.

    Raises:
        RuntimeError: something was lost, or done twice.
    """
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        async with open_stage(lease.url, place / "stage") as stage:
            still = await _kill_and_finish(stage)
            wrong = [each for run in stage.runs for each in await run_violations(stage.sessions, run)]
    finally:
        lease.release()
    if wrong:
        raise RuntimeError("; ".join(wrong))
    return [
        Series(
            "killed -> its run has a new job (0 lost, 0 doubled)",
            [each * 1000 for each in still],
            target=TARGET_SECONDS * 1000,
        )
    ]


async def _kill_and_finish(stage: Stage) -> list[float]:
    for _ in range(SPRINTS):
        await stage.sprint()
    async with stage.sessions.begin() as session:
        # Some sprint is hit three times, and would ask a human.
        await session.execute(_LENIENT)
    changes = {"timings": WorkerTimings(), "concurrency": AT_ONCE, "agent_seconds": AGENT_SECONDS}
    for _ in range(WORKERS):
        stage.crew.start(**changes)
    taken: list[asyncio.Task[float]] = []
    chance = random.SystemRandom()
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(0.5, 4.0))
        taken += await _kill_one(stage, chance)
        stage.crew.start(**changes)
    await stage.rest(seconds=3_600.0)
    return [await each for each in taken]


async def _kill_one(stage: Stage, chance: random.SystemRandom) -> list[asyncio.Task[float]]:
    """Kill a worker whose agents work; give what waits until they are taken over."""
    async with asyncio.timeout(120):
        while not (busy := _busy(stage)):  # noqa: ASYNC110 - workers tell a journal
            await asyncio.sleep(0.05)
    victim = chance.choice(sorted(busy))
    member = next(each for each in stage.crew.members if each.is_alive() and each.pid == victim)
    jobs = {run: await _job(stage, run) for run in busy[victim]}
    member.kill()
    killed = time.monotonic()
    return [asyncio.create_task(_until_taken(stage, run, job, killed)) for run, job in jobs.items() if job]


def _busy(stage: Stage) -> dict[int, set[UUID]]:
    """The runs on which living workers' agents are at work, by the workers' numbers."""
    alive = {each.pid for each in stage.crew.members if each.is_alive()}
    at_work: dict[str, int] = {}
    for each in stage.faults.journal():
        run = str(each.get("run") or each.get("ended"))
        if "agent" in each:
            at_work[run] = int(str(each["pid"]))
        else:
            at_work.pop(run, None)
    busy: dict[int, set[UUID]] = {}
    for run, pid in at_work.items():
        if pid in alive:
            busy.setdefault(pid, set()).add(UUID(run))
    return busy


async def _until_taken(stage: Stage, run: UUID, job: int, killed: float) -> float:
    while (now := await _job(stage, run)) is not None and now <= job:  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)
    return time.monotonic() - killed


async def _job(stage: Stage, run: UUID) -> int | None:
    async with stage.sessions() as session:
        return await session.scalar(_JOB, {"run": str(run)})
