"""The database is away, crashes, or has its clock set: nobody loses work, and nobody is taken for dead."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from app.jobs.worker import WorkerTimings
from harness.boundaries import BOUNDARIES, Action
from tests.acceptance.server import free_port, started
from tests.faults.proxy import road_to
from tests.faults.scene import Scene, scene
from tests.faults.test_boundaries import DONE
from tests.patience import PATIENCE, until

pytestmark = pytest.mark.anyio

WORKED = ["coding 1", "coding 2", "verification 1"]

# Who is late by half a heartbeat is taken for dead: a busy machine must not make one late. After a jump of
# the clock every heartbeat looks overdue until the next one, and the second worker must meet the overdue one:
# the agent works for longer than that takes.
_UNHURRIED = WorkerTimings(heartbeat=2.0, stalled_after=6.0, sweep=0.3, grace=0.5)
_LONG_WORK_SECONDS = 4.0


def agents_began(stage: Scene, count: int) -> bool:
    return sum("agent" in each for each in stage.faults.journal()) >= count


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(1.0, id="1 s"),
        pytest.param(10.0, id="10 s", marks=pytest.mark.long),
        pytest.param(60.0, id="60 s", marks=pytest.mark.long),
    ],
)
async def test_an_outage_costs_no_work(seconds: float, database_url: str, tmp_path: Path) -> None:
    async with road_to(database_url) as (road, url), scene(url, tmp_path) as stage:
        runs = [await stage.sprint() for _ in range(4)]
        for _ in range(2):
            stage.crew.start(concurrency=2, agent_seconds=0.5, timings=_UNHURRIED)
        await stage.until(lambda: agents_began(stage, 3))
        await road.close()
        await asyncio.sleep(seconds)
        await road.open()
        await stage.rest()
        assert [await stage.attempts(each) for each in runs] == [DONE] * 4
        assert [stage.worked(each) for each in runs] == [WORKED] * 4
        assert all(each.is_alive() for each in stage.crew.members)


@pytest.mark.long
async def test_one_worker_is_cut_off(database_url: str, tmp_path: Path) -> None:
    # It cannot know that others see it die; what it does meanwhile must not count.
    async with road_to(database_url) as (road, url), scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        stage.crew.start(database_url=url, agent_seconds=1.0)
        await stage.until(lambda: agents_began(stage, 1))
        await road.close()
        stage.crew.start()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        ended = sum("ended" in each for each in stage.faults.journal())
        await road.open()
        await stage.until(lambda: sum("ended" in each for each in stage.faults.journal()) > ended)
        await stage.check()
        assert await stage.attempts(run_id) == DONE
        # It works again.
        other = await stage.sprint()
        stage.crew.members[1].kill()
        await stage.rest()
        assert await stage.attempts(other) == DONE


@pytest.mark.parametrize("command", ["serve", "worker"])
async def test_a_process_ends_while_its_database_is_away(
    command: str, database_url: str, tmp_path: Path
) -> None:
    log = tmp_path / f"{command}.log"
    async with road_to(database_url) as (road, url):
        process = started([command], url, tmp_path, {"PORT": str(free_port())})
        try:
            await asyncio.to_thread(until, lambda: _has_worker(database_url))
            await road.close()
            await asyncio.to_thread(
                until, lambda: "the job queue is waiting for the database" in log.read_text()
            )
            process.terminate()
            await asyncio.to_thread(process.wait, PATIENCE)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0, log.read_text()


def _has_worker(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT count(*) FROM procrastinate_workers").fetchone()
    return found is not None and found[0] > 0


async def _turn_clock(url: str, hours: int) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("UPDATE turned SET hours = %s", [hours])


async def _own_clock(url: str) -> None:
    """Let this database have a clock that can be set, for whatever asks for `now()`."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("CREATE TABLE turned (hours int)")
        await connection.execute("INSERT INTO turned VALUES (0)")
        await connection.execute(
            "CREATE FUNCTION public.now() RETURNS timestamptz STABLE LANGUAGE sql AS "
            "'SELECT pg_catalog.now() + hours * interval ''1 hour'' FROM public.turned'"
        )
        name = connection.info.dbname
        await connection.execute(f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog')


@pytest.mark.parametrize("hours", [1, pytest.param(-1, marks=pytest.mark.long)])
async def test_a_clock_that_jumps_kills_nobody_and_hides_no_death(
    hours: int, database_url: str, tmp_path: Path
) -> None:
    await _own_clock(database_url)
    async with scene(database_url, tmp_path) as stage:
        run_id = await stage.sprint()
        first = stage.crew.start(agent_seconds=_LONG_WORK_SECONDS, timings=_UNHURRIED)
        await stage.until(lambda: agents_began(stage, 1))
        stage.crew.start(agent_seconds=_LONG_WORK_SECONDS, timings=_UNHURRIED)
        await _turn_clock(database_url, hours)
        await stage.until(lambda: agents_began(stage, 2))
        assert stage.worked(run_id) == ["coding 1", "coding 2"]
        # Set back again while one dies: its last heartbeat lies in the future, or long ago.
        await _turn_clock(database_url, 0)
        first.kill()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[str]:
    """A server that writes what it says it has written, for crashing."""
    lease = acquire(tmp_path / "server", throwaway=True)
    try:
        yield lease.url
    finally:
        lease.release()


async def test_a_backend_that_is_killed_takes_the_server_down_with_it(
    own_server: str, tmp_path: Path
) -> None:
    await upgrade_to_head(own_server)
    async with scene(own_server, tmp_path / "scene") as stage:
        boundaries = ("after attempt.started", "before attempt.produced", "after evaluation.completed")
        runs = [await stage.sprint(each, Action.CRASH) for each in boundaries]
        for _ in range(2):
            stage.crew.start()
        await stage.rest()
        assert [await stage.attempts(each) for each in runs] == [DONE] * len(runs)
        assert all(each.is_alive() for each in stage.crew.members)


@pytest.mark.long
@pytest.mark.parametrize("boundary", BOUNDARIES)
async def test_a_server_crash_at_each_boundary(boundary: str, own_server: str, tmp_path: Path) -> None:
    await upgrade_to_head(own_server)
    async with scene(own_server, tmp_path / "scene") as stage:
        run_id = await stage.sprint(boundary, Action.CRASH)
        stage.crew.start()
        await stage.rest()
        assert await stage.attempts(run_id) == DONE
        # An agent's work was begun again only where nothing of it was recorded yet.
        assert len(stage.worked(run_id)) == 3


@pytest.mark.long
async def test_postgres_itself_is_killed_and_comes_back(tmp_path: Path) -> None:
    lease = acquire(tmp_path / "server", throwaway=True)
    await upgrade_to_head(lease.url)
    async with road_to(lease.url) as (road, url), scene(url, tmp_path / "scene") as stage:
        runs = [await stage.sprint() for _ in range(4)]
        for _ in range(2):
            stage.crew.start(concurrency=2, agent_seconds=0.5)
        await stage.until(lambda: agents_began(stage, 3))
        pid = int((lease.home / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        again = await asyncio.to_thread(acquire, tmp_path / "server", throwaway=True)
        road.target = ("127.0.0.1", int(again.url.rpartition(":")[2].partition("/")[0]))
        await stage.rest()
        assert [await stage.attempts(each) for each in runs] == [DONE] * 4
        assert [stage.worked(each) for each in runs] == [WORKED] * 4
    again.release()
    lease.release()
