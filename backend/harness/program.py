"""A worker process: the real engine, queue and git, with an agent and a gate that report boundaries."""

import asyncio
import logging
import multiprocessing
import os
import resource
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import logfire

from app.agents.models.judge import FirstContender
from app.agents.port import (
    Agent,
    AgentFailure,
    AgentLimits,
    AgentOutcome,
    AgentProgress,
    AgentResult,
    AgentTask,
    ProgressKind,
    ReportProgress,
)
from app.db.engine import Sessions, create_engine, create_sessions
from app.jobs.silence import SilenceRules
from app.jobs.worker import JobWorker, Stopping, WorkerTimings, running
from app.realtime.service import open_doorbell
from app.realtime.store import Fence
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationContext, EvaluationResult
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.phase_panel import PhasePanel
from app.schemas.agents import AgentSpec
from app.schemas.runs import RunKind
from app.services.chores.reconcile import Reconcile
from app.services.chores.takeover import Takeover
from app.services.execute.advance import Advance, KindSteps
from app.services.execute.candidates import CandidateRuns
from app.services.execute.judging import Judging
from app.services.execute.producing import Producing
from app.services.execute.trees import RunTrees
from app.services.record.transactions import EventBell, Recorder, Recording
from app.workspaces.confine.ownership import Places, owning, remove_leftovers
from app.workspaces.history.git import Git
from app.workspaces.process import run_process
from app.workspaces.store import WorkspaceStore
from harness.boundaries import Faults

_PATH = "/usr/local/bin:/usr/bin:/bin"
QUICK = WorkerTimings(heartbeat=0.3, stalled_after=2.0, sweep=0.3, grace=0.5)


@dataclass(frozen=True)
class WorkerSpec:
    """The configuration of a worker process, which has a directory for itself like a separate machine."""

    database_url: str
    data_dir: Path
    faults: Faults
    timings: WorkerTimings = QUICK
    concurrency: int = 4
    agent_seconds: float = 0.0
    version: str = "1"
    program: tuple[str, ...] = ()
    written_bytes: int = 10
    file_bytes: int | None = None


class BoundaryRecorder(Recorder):
    """A recorder that reports a boundary before and after each commit."""

    def __init__(self, sessions: Sessions, bell: EventBell, faults: Faults) -> None:
        super().__init__(sessions, bell)
        self._faults = faults

    async def take(self, run_id: UUID, fence: Fence) -> bool:
        """Take the run and report the first boundary."""
        taken = await super().take(run_id, fence)
        if taken:
            self._faults.reach(run_id, "job taken")
        return taken

    @asynccontextmanager
    async def open(self, run_id: UUID, fence: Fence, *, charges: bool = False) -> AsyncGenerator[Recording]:
        """Open a transaction, and report boundaries before and after its commit."""
        async with super().open(run_id, fence, charges=charges) as recording:
            yield recording
            names = [each.event for each in recording._events]  # pyright: ignore[reportPrivateUsage]
            for name in names:
                self._faults.reach(run_id, f"before {name}")
        for name in names:
            self._faults.reach(run_id, f"after {name}")


@dataclass(frozen=True)
class BusyAgent:
    """Notes in the journal that it started, and writes two files."""

    spec: WorkerSpec
    name: str = "busy"
    provider: str = "test"
    model: str | None = None

    def __call__(self, spec: AgentSpec) -> Agent | AgentFailure:
        """Return this agent, whatever the specification."""
        return self

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Write the files and report the boundary "agent at work"."""
        # The workspace's directory is named after the run.
        run_id = UUID(task.workspace.parents[1].name[:36])
        faults = self.spec.faults
        faults.note(agent=f"{task.phase} {task.attempt}", run=str(run_id), pid=os.getpid())
        report(AgentProgress(ProgressKind.TEXT, "working", datetime.now(UTC)))
        await asyncio.sleep(self.spec.agent_seconds)
        if self.spec.program:
            await run_process(self.spec.program, cwd=task.workspace, env={"PATH": _PATH}, timeout=900.0)
        (task.workspace / f"{task.phase}.txt").write_text(f"{task.attempt}\n")
        (task.workspace / "large").write_bytes(os.urandom(self.spec.written_bytes))
        faults.reach(run_id, "agent at work")
        report(AgentProgress(ProgressKind.TEXT, "done", datetime.now(UTC)))
        return AgentResult("VERIFICATION_SUCCESS")


@dataclass(frozen=True)
class SecondTime:
    """Fails the first attempt of coding; passes later attempts and other phases whose file is right."""

    spec: WorkerSpec
    name: str = "second_time"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    is_deterministic: bool = True

    @property
    def version(self) -> str:
        """Return the version of the code that is deployed."""
        return self.spec.version

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Evaluate the phase's file, and report the boundary "gate at work"."""
        run_id, attempt = context.get("run_id"), context.get("attempt", 0)
        assert run_id is not None
        self.spec.faults.reach(UUID(str(run_id)), "gate at work")
        written = (Path(str(context.get("workspace_ref"))) / f"{phase}.txt").read_text()
        passed = written == f"{attempt}\n" and (phase != "coding" or attempt > 1)
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=passed,
            score=float(passed),
            feedback=f"{phase} {attempt}",
            evaluator_version=self.version,
        )


def main(spec: WorkerSpec) -> None:
    """Work until SIGTERM; the entry point of a worker process."""
    logging.basicConfig(
        filename=spec.faults.place / f"{spec.data_dir.name}.log",
        level=logging.INFO,
        format="%(asctime)s %(process)d %(name)s %(message)s",
        force=True,
    )
    if spec.file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (spec.file_bytes, spec.file_bytes))
    logfire.configure(
        send_to_logfire=False, console=False, metrics=False, inspect_arguments=False, distributed_tracing=True
    )
    asyncio.run(_work(spec))


async def _work(spec: WorkerSpec) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    parent = multiprocessing.parent_process()
    if parent is not None:
        # Ends the worker with the process that started it, so that none outlives its test.
        loop.add_reader(parent.sentinel, os._exit, 1)
    engine = create_engine(spec.database_url, pool_size=8)
    sessions = create_sessions(engine)
    try:
        places = Places((spec.faults.place / "scratch",))
        await remove_leftovers(places)
        with owning(places) as (scratch,):
            async with open_doorbell(spec.database_url) as bell:
                worker = _worker(spec, sessions, bell, scratch)
                async with running(worker):
                    await stop.wait()
    finally:
        await engine.dispose()


def _worker(spec: WorkerSpec, sessions: Sessions, bell: EventBell, scratch: Path) -> JobWorker:
    registry = EvaluatorRegistry()
    registry.register(SecondTime(spec))
    trees = RunTrees(WorkspaceStore(spec.data_dir, Git.find(), scratch=scratch), sessions)
    recorder = BoundaryRecorder(sessions, bell, spec.faults)
    panel = PhasePanel(registry)
    advance = Advance(
        sessions,
        recorder,
        {
            RunKind.SPRINT: KindSteps(
                Producing(sessions, recorder, CandidateRuns(BusyAgent(spec), trees), AgentLimits()),
                Judging(sessions, recorder, panel, trees, FirstContender()),
            )
        },
    )
    timings = spec.timings
    rules = SilenceRules.of(
        heartbeat=timings.heartbeat, stalled_after=timings.stalled_after, sweep=timings.sweep
    )
    takeover = Takeover(sessions, Reconcile(sessions), rules, timings.stalled_after)

    async def body(run_id: UUID, job_id: int, job_try: int, stopping: Stopping) -> None:
        try:
            await advance(run_id, job_id, job_try, stopping)
        finally:
            spec.faults.note(job=job_id, ended=str(run_id))

    return JobWorker(spec.database_url, body, takeover, concurrency=spec.concurrency, timings=timings)
