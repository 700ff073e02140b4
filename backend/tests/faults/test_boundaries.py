"""A fault at each boundary of an attempt: the run reaches its end, nothing is lost, nothing happens twice."""

import os
import signal
from pathlib import Path

import pytest

from harness.boundaries import BOUNDARIES, COMMITTED, Action
from tests.faults.scene import scene

pytestmark = pytest.mark.anyio

DONE = [("coding", 1, "failed"), ("coding", 2, "passed"), ("verification", 1, "passed")]


async def test_kills_at_every_boundary_at_once(database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        runs = [await stage.sprint(each, Action.KILL) for each in BOUNDARIES]
        await stage.rest(workers=3)
        assert [await stage.attempts(each) for each in runs] == [DONE] * len(runs)
        faults = [each["fault"] for each in stage.faults.journal() if "fault" in each]
        assert sorted(map(str, faults)) == sorted(BOUNDARIES)


@pytest.mark.parametrize(
    "boundary",
    [
        pytest.param(each, marks=() if each == "after attempt.produced" else pytest.mark.long)
        for each in COMMITTED
    ],
)
async def test_an_answer_that_is_lost_after_the_commit(
    boundary: str, database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint(boundary, Action.LOSE_ANSWER)
        stage.crew.start()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE


async def test_a_worker_that_sleeps_beyond_its_lease_changes_nothing(
    database_url: str, tmp_path: Path
) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint("agent at work", Action.STOP)
        sleeper = stage.crew.start()
        await stage.until(lambda: any("fault" in each for each in stage.faults.journal()))
        stage.crew.start()
        await stage.rest()
        before = await stage.attempts(run_id)
        assert before == DONE
        assert stage.worked(run_id) == ["coding 1", "coding 1", "coding 2", "verification 1"]
        ended = sum("ended" in each for each in stage.faults.journal())
        assert sleeper.pid is not None
        os.kill(sleeper.pid, signal.SIGCONT)
        await stage.until(lambda: sum("ended" in each for each in stage.faults.journal()) > ended)
        await stage.check()
        assert await stage.attempts(run_id) == before


@pytest.mark.long
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("action", [Action.KILL, Action.CUT])
async def test_one_fault(action: Action, boundary: str, database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint(boundary, action)
        stage.crew.start()
        await stage.until(lambda: any("fault" in each for each in stage.faults.journal()))
        stage.crew.start()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        # Only work that was not recorded is done again, and only when its worker was lost with it.
        again = action is Action.KILL and boundary in ("agent at work", "before attempt.produced")
        assert len(stage.worked(run_id)) == 3 + again


@pytest.mark.long
@pytest.mark.parametrize("boundary", BOUNDARIES)
async def test_a_sleeper_at_any_boundary(boundary: str, database_url: str, tmp_path: Path) -> None:
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint(boundary, Action.STOP)
        sleeper = stage.crew.start()
        await stage.until(lambda: any("fault" in each for each in stage.faults.journal()))
        stage.crew.start()
        # One that sleeps in a transaction keeps its run locked until the database ends it.
        await stage.rest()
        assert sleeper.pid is not None
        ended = sum("ended" in each for each in stage.faults.journal())
        os.kill(sleeper.pid, signal.SIGCONT)
        await stage.until(lambda: sum("ended" in each for each in stage.faults.journal()) > ended)
        await stage.check()
        assert await stage.attempts(run_id) == DONE
