"""The real engine in this process, with Postgres on disk, queue and worker; only the gate is trivial."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import logfire
from sqlalchemy import text

from app.agents.models.judge import FirstContender
from app.agents.port import AgentLimits
from app.composition.database import open_sessions
from app.composition.tools import build_tools
from app.core.config import Settings
from app.db.embedded.server import acquire
from app.db.engine import Sessions
from app.db.migrate import upgrade_to_head
from app.jobs.silence import SilenceRules
from app.jobs.worker import JobWorker, WorkerTimings, running
from app.realtime.service import open_realtime
from app.runners.phase_panel import PhasePanel
from app.schemas.agents import AgentSpec
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunKind
from app.services.chores.reconcile import Reconcile
from app.services.chores.takeover import Takeover
from app.services.control.intake import Intake
from app.services.control.sprints import SprintService, sprint_service
from app.services.execute.advance import Advance, KindSteps
from app.services.execute.candidates import CandidateRuns
from app.services.execute.judging import Judging
from app.services.execute.producing import Producing
from app.services.execute.trees import RunTrees
from app.services.read.runs import RunQueries
from app.services.record.transactions import EventBell, Recorder
from app.services.review.escalations import EscalationService
from app.workspaces.store import WorkspaceStore
from benchmarks.git_clock import TimedGit
from benchmarks.trivial_gate import trivial_registry

REST_SECONDS = 60.0
POLL_SECONDS = 0.1  # rarely, so that asking takes no time from what is measured
MAX_STEPS = 20

# The moment of the commit, as the server itself noted it: `at` is when an event was made.
_EVENTS = text(
    """
    SELECT sequence, type, attempt, extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 AS committed
    FROM events WHERE run_id = :run ORDER BY sequence
    """
)
_RESTS = text(
    """
    SELECT (SELECT id FROM escalations WHERE run_id = runs.id AND status = 'open')
    FROM runs WHERE id = :run AND status = 'waiting'
    AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE lock = runs.id::text)
    """
)


@dataclass(frozen=True, slots=True)
class Committed:
    """An event, and when its transaction committed (seconds since 1970)."""

    sequence: int
    type: str
    attempt: int | None
    at: float


@dataclass(frozen=True, slots=True)
class Engine:
    """What benchmarks use of the engine; `git` has noted every call of the program."""

    sprints: SprintService
    escalations: EscalationService
    git: TimedGit
    sessions: Sessions

    async def events(self, run_id: UUID) -> list[Committed]:
        """The run's events, in order."""
        async with self.sessions() as session:
            return [Committed(*row) for row in await session.execute(_EVENTS, {"run": run_id})]

    async def rest(self, run_id: UUID) -> UUID:
        """Wait until the run asks a human and its job is gone; give the escalation.

        Raises:
            TimeoutError: it does not come to rest.
        """
        async with asyncio.timeout(REST_SECONDS):
            while (escalation := await self._open_escalation(run_id)) is None:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)
            return escalation

    async def _open_escalation(self, run_id: UUID) -> UUID | None:
        async with self.sessions() as session:
            return await session.scalar(_RESTS, {"run": run_id})


@asynccontextmanager
async def open_engine(place: Path) -> AsyncGenerator[Engine]:
    """Run an engine with its default settings, on a separate database below `place`."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    lease = await asyncio.to_thread(acquire, place, options=["track_commit_timestamp=on"], throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        settings = Settings(DATA_DIR=place)
        async with (
            open_sessions(settings, lease.url) as sessions,
            open_realtime(lease.url, RunQueries(sessions).states) as realtime,
        ):
            engine, worker = _assemble(settings, lease.url, sessions, realtime.doorbell)
            async with running(worker):
                yield engine
    finally:
        lease.release()


def sprint(**policy: int) -> SprintCreate:
    """A request for one coding phase on a new project, where each attempt writes one small file."""
    steps: list[dict[str, Any]] = [
        {
            "say": f"Attempt {number}.",
            "edits": [{"kind": "write", "path": "tick.txt", "content": f"{number}\n"}],
        }
        for number in range(1, MAX_STEPS + 1)
    ]
    script = {"title": "benchmark", "phases": {"coding": steps}}
    document = {
        "goal": "Tick.",
        "source": {"kind": "empty"},
        "phases": ["coding"],
        "agent": AgentSpec.model_validate({"backend": "scripted", "script": script}),
        "policy": policy,
    }
    return SprintCreate.model_validate(document)


def _assemble(settings: Settings, url: str, sessions: Sessions, bell: EventBell) -> tuple[Engine, JobWorker]:
    tools = build_tools(settings)
    git = TimedGit(tools.git.executable, tools.git.transport_env, tools.git.timeout)
    store = WorkspaceStore(settings.DATA_DIR, git, tools.limits)
    trees = RunTrees(store, sessions)
    intake = Intake(sessions, store, git, tools.sources, bell)
    sprints = sprint_service(intake, tools.policy)
    panel = PhasePanel(trivial_registry())
    recorder = Recorder(sessions, bell)
    advance = Advance(
        sessions,
        recorder,
        {
            RunKind.SPRINT: KindSteps(
                Producing(sessions, recorder, CandidateRuns(tools.agents, trees), AgentLimits()),
                Judging(sessions, recorder, panel, trees, FirstContender()),
            )
        },
    )
    timings = WorkerTimings()
    rules = SilenceRules.of(
        heartbeat=timings.heartbeat, stalled_after=timings.stalled_after, sweep=timings.sweep
    )
    sweep = Takeover(sessions, Reconcile(sessions), rules, timings.stalled_after)
    worker = JobWorker(url, advance, sweep, concurrency=settings.WORKER_CONCURRENCY, timings=timings)
    return Engine(sprints, EscalationService(sessions, bell), git, sessions), worker
