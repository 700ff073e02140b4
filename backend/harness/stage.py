"""A database with sprints and workers, and the check of what must hold once all runs are over."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.db.engine import Sessions, create_engine, create_sessions
from app.db.models import Attempt, Run
from app.db.outages import through_outages
from app.schemas.agents import AgentSpec
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunPolicy
from app.services.control.intake import Intake
from app.services.control.sprints import SprintService, sprint_service
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.store import WorkspaceStore
from harness.boundaries import Action, Faults
from harness.crew import Crew
from harness.invariants import run_violations
from harness.plan import Plan
from harness.program import WorkerSpec

POLL_SECONDS = 0.05
REST_SECONDS = 240.0
_SCRIPT: dict[str, Any] = {"title": "faults", "phases": {"coding": [{"say": "unused", "edits": []}]}}


@dataclass(kw_only=True)
class Stage:
    """A database with sprints, and the workers that advance them."""

    sessions: Sessions
    sprints: SprintService
    crew: Crew
    faults: Faults
    plan: Plan
    runs: list[UUID] = field(default_factory=list[UUID])

    async def sprint(
        self, boundary: str = "", action: Action = Action.KILL, *, max_attempts: int = 3
    ) -> UUID:
        """Start a sprint that meets a fault at `boundary`, or none when `boundary` is empty."""
        request = SprintCreate.model_validate(
            {
                "goal": f"Go through {boundary or 'nothing'}.",
                "source": {"kind": "empty"},
                "phases": ["coding", "verification"],
                "policy": {"max_attempts": max_attempts},
                "agent": AgentSpec.model_validate({"backend": "scripted", "script": _SCRIPT}),
            }
        )
        run_id = (await self.sprints.start(request, "test")).id
        self.runs.append(run_id)
        if boundary:
            self.plan[run_id] = (boundary, action)
        return run_id

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition on the journal or on processes holds."""
        async with asyncio.timeout(REST_SECONDS):
            while not holds():  # noqa: ASYNC110 - killed processes send no signal
                await asyncio.sleep(POLL_SECONDS)

    async def status(self, run_id: UUID) -> str:
        """Return a run's status, as soon as the database answers."""

        async def read() -> str:
            async with self.sessions() as session:
                return await session.scalar(select(Run.status).where(Run.id == run_id)) or ""

        return await through_outages(read)

    async def rest(self, *, workers: int = 0, seconds: float = REST_SECONDS) -> None:
        """Wait until every run is over while keeping `workers` processes alive, then check the runs."""
        for run_id in self.runs:
            async with asyncio.timeout(seconds):
                while (status := await self.status(run_id)) not in ("completed", "failed", "cancelled"):
                    assert status != "waiting", "a human is asked, which nothing here leads to"
                    self.crew.keep(workers)
                    await asyncio.sleep(POLL_SECONDS)
        await self.check()

    async def check(self) -> None:
        """Assert that nothing is wrong once every run is over."""
        assert await self.violations() == []

    async def violations(self) -> list[str]:
        """Return what is wrong with the runs, once every one is over."""
        wrong: list[str] = []
        for run_id in self.runs:
            async with asyncio.timeout(REST_SECONDS):
                # The job ends a moment after its run does, without a signal.
                while any("jobs are left" in each for each in await self._violations(run_id)):  # noqa: ASYNC110
                    await asyncio.sleep(POLL_SECONDS)
            wrong += await self._violations(run_id)
        return wrong

    async def _violations(self, run_id: UUID) -> list[str]:
        return await through_outages(lambda: run_violations(self.sessions, run_id))

    async def attempts(self, run_id: UUID) -> list[tuple[str, int, str]]:
        """Return phase, number and status of the run's attempts."""
        async with self.sessions() as session:
            statement = select(Attempt).where(Attempt.run_id == run_id).order_by(Attempt.started_at)
            return [(each.phase, each.number, each.status) for each in await session.scalars(statement)]

    def worked(self, run_id: UUID) -> list[str]:
        """Return phase and attempt of each start of an agent."""
        return [
            str(each["agent"])
            for each in self.faults.journal()
            if each.get("run") == str(run_id) and "agent" in each
        ]


def plan_faults(database_url: str, place: Path) -> tuple[Crew, Faults, Plan]:
    """Return a crew without workers yet, the faults that they will meet, and the plan of these faults."""
    planned = place / "plan"
    planned.mkdir(parents=True)
    plan = Plan(planned)
    faults = Faults(place, database_url, plan)
    # One job per worker: a killed worker then affects no other run, which would also count the death.
    return Crew(WorkerSpec(database_url, place, faults, concurrency=1)), faults, plan


@asynccontextmanager
async def open_stage(database_url: str, place: Path) -> AsyncGenerator[Stage]:
    """Open a stage; all processes that it started have ended when the block is left."""
    crew, faults, plan = plan_faults(database_url, place)
    engine = create_engine(database_url, pool_size=10)
    sessions = create_sessions(engine)
    git = Git.find()
    store = WorkspaceStore(place / "api", git)
    intake = Intake(sessions, store, git, SourcePolicy(), _Silence())
    sprints = sprint_service(intake, RunPolicy())
    try:
        yield Stage(sessions=sessions, sprints=sprints, crew=crew, faults=faults, plan=plan)
    finally:
        await asyncio.to_thread(crew.stop)
        await engine.dispose()


class _Silence:
    def ring(self, run_id: UUID) -> None:
        """Do nothing: no follower waits for events."""
