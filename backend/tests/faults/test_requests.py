"""Requests that come twice or late; cancellation; deploys; processes and disks that fail."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select, text

from app.core.errors import ConflictError
from app.db.models import Attempt, Candidate, Escalation, Evaluation
from app.jobs.queue import enqueue_advance
from app.schemas.api.escalations import EscalationResolve
from app.schemas.runs import EscalationDecision
from harness.boundaries import Action
from harness.invariants import run_violations
from harness.program import QUICK
from tests.faults.scene import Scene, scene
from tests.faults.test_boundaries import DONE
from tests.faults.test_database import WORKED, agents_began
from tests.integration.services.support import at_once

pytestmark = pytest.mark.anyio

RETRY = EscalationResolve(decision=EscalationDecision.RETRY)


def commands() -> list[bytes]:
    """Command lines of all processes."""
    found: list[bytes] = []
    for each in Path("/proc").iterdir():
        try:
            found.append((each / "cmdline").read_bytes())
        except OSError:
            continue
    return found


def runs_program(marker: str) -> bool:
    return any(marker.encode() in each for each in commands())


async def open_escalation(stage: Scene) -> Escalation:
    async with stage.sessions() as session:
        statement = select(Escalation).where(Escalation.status == "open")
        return (await session.execute(statement)).scalar_one()


async def until_status(stage: Scene, status: str) -> None:
    statuses: list[str] = []

    async def look() -> None:
        statuses[:] = [await stage.status(each) for each in stage.runs]

    await look()
    while set(statuses) != {status}:
        await stage.until(lambda: True)
        await look()


async def test_enqueued_again_and_again(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        for _ in range(2):
            stage.crew.start()
        # Every request finds a job there, or makes one that finds nothing to do.
        while await stage.status(run_id) != "completed":
            async with stage.cases.sessions.begin() as session:
                await enqueue_advance(session, run_id)
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        assert stage.worked(run_id) == ["coding 1", "coding 2", "verification 1"]


async def test_decided_by_several_at_once_and_cancelled_by_others(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint(max_attempts=1)
        stage.crew.start()
        await until_status(stage, "waiting")
        escalation = await open_escalation(stage)
        answers = await at_once(
            *(stage.cases.escalations.resolve(escalation.id, RETRY, f"reviewer {n}") for n in range(5))
        )
        assert sum(not isinstance(each, Exception) for each in answers) == 1
        assert all(isinstance(each, ConflictError) for each in answers if isinstance(each, Exception))
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        # Too late, and said so.
        cancelled = await at_once(*(stage.cases.cancels.cancel(run_id, "", "ada") for _ in range(3)))
        assert all(isinstance(each, ConflictError) for each in cancelled)


async def test_cancelled_while_a_program_of_the_agent_runs(database_url: str, tmp_path: Path) -> None:
    marker = f"900.{uuid4().int % 10**12}"
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        stage.crew.start(program=("sh", "-c", f"sleep {marker} & sleep {marker}"))
        await stage.until(lambda: runs_program(marker))
        await stage.cases.cancels.cancel(run_id, "enough", "ada")
        await stage.until(lambda: not runs_program(marker))
        await stage.until(lambda: any("ended" in each for each in stage.faults.journal()))
        await stage.rest()
        assert await stage.attempts(run_id) == [("coding", 1, "started")]


async def test_a_killed_worker_s_programs_are_ended_by_the_next_one(
    database_url: str, tmp_path: Path
) -> None:
    marker = f"900.{uuid4().int % 10**12}"
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        first = stage.crew.start(program=("sh", "-c", f"setsid sleep {marker} & sleep {marker}"))
        await stage.until(lambda: runs_program(marker))
        first.kill()
        stage.crew.start()
        await stage.until(lambda: not runs_program(marker))
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        left = [each.name for each in (tmp_path / "scratch").iterdir()]
        assert len(left) == 1, "that of the living one"


async def test_a_worker_that_is_told_to_stop_hands_over(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        first = stage.crew.start(agent_seconds=600.0)
        await stage.until(lambda: agents_began(stage, 1))
        first.terminate()
        stage.crew.start()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        async with stage.sessions() as session:
            lost = (await session.scalars(select(Attempt.lost_workers))).all()
        assert set(lost) == {0}


async def test_a_worker_that_is_told_to_stop_ends_its_step_and_begins_no_other(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        first = stage.crew.start(agent_seconds=1.0, timings=replace(QUICK, grace=200.0))
        await stage.until(lambda: agents_began(stage, 1))
        first.terminate()
        await stage.until(lambda: not first.is_alive())
        assert await stage.attempts(run_id) == [("coding", 1, "produced")]
        stage.crew.start()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        assert stage.worked(run_id) == WORKED
        assert "attempt.interrupted" not in await stage.cases.rows.events(run_id)


async def test_a_deploy_while_runs_wait(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint(max_attempts=1)
        old = stage.crew.start(version="1")
        await until_status(stage, "waiting")
        old.terminate()
        await stage.until(lambda: not old.is_alive())
        async with stage.sessions.begin() as session:
            # As an older version wrote it, which knew fewer things to decide.
            await session.execute(
                text("UPDATE runs SET policy = policy - 'safe_fixes' - 'open_paths' - 'max_lost_workers'")
            )
        stage.crew.start(version="2")
        await stage.cases.escalations.resolve((await open_escalation(stage)).id, RETRY, "ada")
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        async with stage.sessions() as session:
            statement = (
                select(Evaluation.version)
                .join(Candidate, Candidate.id == Evaluation.candidate_id)
                .join(Attempt, Attempt.id == Candidate.attempt_id)
                .order_by(Attempt.started_at)
            )
            assert (await session.scalars(statement)).all() == ["1", "2", "2"]


@pytest.mark.long
async def test_a_workspace_without_room_asks_a_human_and_goes_on(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        small = stage.crew.start(file_bytes=500_000, written_bytes=1_000_000)
        await until_status(stage, "waiting")
        escalation = await open_escalation(stage)
        assert escalation.reason_kind == "agent_unavailable"
        assert "File too large" in escalation.reason
        small.terminate()
        await stage.until(lambda: not small.is_alive())
        stage.crew.start(written_bytes=1_000_000)
        await stage.cases.escalations.resolve(escalation.id, RETRY, "ada")
        await stage.rest()
        assert await stage.attempts(run_id) == DONE


@pytest.mark.long
async def test_workers_that_are_killed_again_and_again(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        boundaries = ("agent at work", "gate at work", "after attempt.produced", "before phase.completed")
        runs = [await stage.sprint(boundaries[n % 4], Action.KILL) for n in range(24)]
        await stage.rest(workers=4)
        assert [await stage.attempts(each) for each in runs] == [DONE] * len(runs)
        assert await run_violations(stage.sessions, runs[0]) == []
