"""A scene for faults: a database, workers, an API with clients that follow, and what must hold at the end."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.client.events import Reconnect, Reset, follow
from app.db.engine import Sessions
from app.db.models import Attempt, Run
from app.db.outages import patiently
from app.schemas.agents import AgentSpec
from app.schemas.sprints import SprintCreate
from tests.faults.boundaries import Action, Faults
from tests.faults.invariants import follower_violations, run_violations
from tests.faults.program import WorkerSpec, main
from tests.integration.realtime.support import serving
from tests.integration.services.support import UseCases, use_cases

POLL_SECONDS = 0.05
REST_SECONDS = 240.0
_PATIENT = Reconnect(first=0.05, longest=0.2, give_up_after=REST_SECONDS)
_PROCESSES = multiprocessing.get_context("forkserver")
# Imported once; a worker is then a fork that starts in milliseconds.
_PROCESSES.set_forkserver_preload(["tests.faults.program", "pytest"])


@dataclass
class Crew:
    """Worker processes; ended by their own numbers."""

    spec: WorkerSpec
    members: list[BaseProcess] = field(default_factory=list[BaseProcess])

    def start(self, **changes: Any) -> BaseProcess:
        """Start one more, with a directory of its own."""
        data_dir = self.spec.data_dir / f"worker-{len(self.members)}"
        data_dir.mkdir()
        member = _PROCESSES.Process(target=main, args=(replace(self.spec, data_dir=data_dir, **changes),))
        member.start()
        self.members.append(member)
        return member

    def keep(self, count: int) -> None:
        """Start as many as have died."""
        for _ in range(count - sum(each.is_alive() for each in self.members)):
            self.start()

    def stop(self) -> None:
        """End all: those that hang as well."""
        for each in self.members:
            if each.is_alive() and each.pid is not None:
                os.kill(each.pid, signal.SIGCONT)
                each.terminate()
        for each in self.members:
            each.join(20)
            if each.is_alive():
                each.kill()
                each.join()
            each.close()


@dataclass
class Scene:
    """What a test of faults works with."""

    cases: UseCases
    crew: Crew
    faults: Faults
    plan: dict[UUID, tuple[str, Action]]
    api: str | None
    runs: list[UUID] = field(default_factory=list[UUID])
    followers: dict[UUID, asyncio.Task[list[Mapping[str, Any]]]] = field(
        default_factory=dict[UUID, "asyncio.Task[list[Mapping[str, Any]]]"]
    )

    @property
    def sessions(self) -> Sessions:
        """Opens sessions on the scene's database."""
        return self.cases.sessions

    async def sprint(
        self, boundary: str = "", action: Action = Action.KILL, *, max_attempts: int = 3
    ) -> UUID:
        """Start a sprint that meets a fault, and follow it."""
        request = SprintCreate.model_validate(
            {
                "goal": f"Go through {boundary or 'nothing'}.",
                "source": {"kind": "empty"},
                "phases": ["coding", "verification"],
                "policy": {"max_attempts": max_attempts},
                "agent": AgentSpec.model_validate({"backend": "scripted", "script": _SCRIPT}),
            }
        )
        run_id = (await self.cases.sprints.start(request, "test")).id
        self.runs.append(run_id)
        if boundary:
            self.plan[run_id] = (boundary, action)
        if self.api is not None:
            self.followers[run_id] = asyncio.create_task(_collect(self.api, run_id))
        return run_id

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that is noted in the journal, or of processes."""
        async with asyncio.timeout(REST_SECONDS):
            while not holds():  # noqa: ASYNC110 - processes that are killed tell nobody
                await asyncio.sleep(POLL_SECONDS)

    async def status(self, run_id: UUID) -> str:
        """Status of a run, as soon as the database answers."""

        async def read() -> str:
            async with self.sessions() as session:
                return await session.scalar(select(Run.status).where(Run.id == run_id)) or ""

        return await patiently(read)

    async def rest(self, *, workers: int = 0, seconds: float = REST_SECONDS) -> None:
        """Wait until every run is over, keeping a number of workers alive, and check all that must hold."""
        for run_id in self.runs:
            async with asyncio.timeout(seconds):
                while (status := await self.status(run_id)) not in ("completed", "failed", "cancelled"):
                    assert status != "waiting", "a human is asked, which nothing here leads to"
                    self.crew.keep(workers)
                    await asyncio.sleep(POLL_SECONDS)
        await self.check()

    async def check(self) -> None:
        """Check all that must hold once every run is over."""
        wrong: list[str] = []
        for run_id in self.runs:
            async with asyncio.timeout(REST_SECONDS):
                # The job ends a moment after its run does.
                while any("jobs are left" in each for each in await self._violations(run_id)):  # noqa: ASYNC110
                    await asyncio.sleep(POLL_SECONDS)
            wrong += await self._violations(run_id)
        for follower in self.followers.values():
            async with asyncio.timeout(REST_SECONDS):
                wrong += follower_violations(await follower)
        assert wrong == []

    async def _violations(self, run_id: UUID) -> list[str]:
        return await patiently(lambda: run_violations(self.sessions, run_id))

    async def attempts(self, run_id: UUID) -> list[tuple[str, int, str]]:
        """Phase, number and status of the run's attempts."""
        async with self.sessions() as session:
            statement = select(Attempt).where(Attempt.run_id == run_id).order_by(Attempt.started_at)
            return [(each.phase, each.number, each.status) for each in await session.scalars(statement)]

    def worked(self, run_id: UUID) -> list[str]:
        """How often agents began, by phase and attempt."""
        return [
            str(each["agent"])
            for each in self.faults.journal()
            if each.get("run") == str(run_id) and "agent" in each
        ]


async def _collect(api: str, run_id: UUID) -> list[Mapping[str, Any]]:
    got: list[Mapping[str, Any]] = []
    async for event in follow(api, run_id, until_final=True, reconnect=_PATIENT):
        assert not isinstance(event, Reset)
        got.append(event)
    return got


@asynccontextmanager
async def scene(database_url: str, place: Path, *, api: bool = True) -> AsyncGenerator[Scene]:
    """Set a scene; every process that was started has ended when the block is left."""
    planned = place / "plan"
    planned.mkdir(parents=True)
    plan: dict[UUID, tuple[str, Action]] = _Plan(planned)
    faults = Faults(place, database_url, plan)
    # One job each: a killed worker takes no other run with it, which would count the death, too.
    crew = Crew(WorkerSpec(database_url, place, faults, concurrency=1))
    async with AsyncExitStack() as stack:
        cases = await stack.enter_async_context(use_cases(database_url, place / "api"))
        service = await stack.enter_async_context(serving(database_url)) if api else None
        made = Scene(cases, crew, faults, plan, service.http if service else None)
        try:
            yield made
        finally:
            await asyncio.to_thread(crew.stop)
            for each in made.followers.values():
                each.cancel()
            if made.followers:
                await asyncio.wait(made.followers.values())


class _Plan(dict[UUID, tuple[str, Action]]):
    """What is to happen to which run; kept in files, so that workers that are running already see it."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self._place = place

    def __setitem__(self, run_id: UUID, fault: tuple[str, Action]) -> None:
        super().__setitem__(run_id, fault)
        draft = self._place / f"{run_id}.new"
        draft.write_text("\n".join(fault))
        draft.rename(self._place / str(run_id))

    def get(self, run_id: UUID, default: Any = None) -> Any:
        try:
            boundary, action = (self._place / str(run_id)).read_text().splitlines()
        except FileNotFoundError:
            return default
        return boundary, Action(action)

    def __reduce__(self) -> Any:
        return _Plan, (self._place,)


_SCRIPT = {"title": "faults", "phases": {"coding": [{"say": "unused", "edits": []}]}}
