"""The engine on a real database, with agents, trees and gates that do as a test says."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select, text

from app.agents.models.judge import FirstContender
from app.agents.port import (
    Agent,
    AgentFailure,
    AgentLimits,
    AgentOutcome,
    AgentResult,
    AgentTask,
    ReportProgress,
)
from app.db.models import Attempt, Escalation, EventRow
from app.runners.evaluators.protocol import (
    EvaluationCategory,
    EvaluationContext,
    EvaluationResult,
    EvaluationStatus,
)
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.phase_panel import PhasePanel
from app.schemas.agents import AgentSpec
from app.schemas.questions import QUESTIONS, Question
from app.schemas.runs import RunKind, RunPolicy
from app.services.execute.advance import Advance, KindSteps
from app.services.execute.candidates import CandidateRuns, Committed
from app.services.execute.judging import Judging
from app.services.execute.producing import Producing
from app.services.record.transactions import Recorder
from app.workspaces.store import JudgedPair
from tests.integration.services.support import UseCases

Step = Callable[[AgentTask], Awaitable[AgentOutcome]]
"""What an agent does in one attempt."""


async def works(task: AgentTask) -> AgentOutcome:
    """End well at once."""
    return AgentResult(f"{task.phase} {task.attempt} VERIFICATION_SUCCESS")


@dataclass
class Agents:
    """Gives an agent that does the steps in turn, and then works; notes what it was asked to do."""

    steps: list[Step] = field(default_factory=list[Step])
    asked: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    name: str = "told"
    provider: str = "test"
    model: str | None = None

    def __call__(self, spec: AgentSpec) -> Agent | AgentFailure:
        """Give itself."""
        return self

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Do the next step."""
        self.asked.append((task.phase, task.attempt))
        step = self.steps.pop(0) if self.steps else works
        return await step(task)


@dataclass
class Trees:
    """Working trees and copies without git; `trouble` is raised instead of giving any.

    Every commit changes `changes`.
    """

    place: Path
    trouble: Exception | None = None
    judging_trouble: Exception | None = None
    changes: Sequence[str] = ("a.py",)

    @asynccontextmanager
    async def open(
        self, run_id: UUID, commit: str, count: int, claim: UUID | None = None
    ) -> AsyncGenerator[Sequence[Path]]:
        """Give empty directories."""
        if self.trouble:
            raise self.trouble
        trees = [self.place / str(uuid4()) for _ in range(count)]
        for tree in trees:
            tree.mkdir(parents=True)
        yield trees

    def sessions(self, run_id: UUID) -> Path:
        """Give a directory for conversations."""
        return self.place / "sessions" / str(run_id)

    async def commit(self, run_id: UUID, tree: Path, base: str, parent: str, message: str) -> Committed:
        """Make up a commit."""
        made = sha1(str(tree).encode(), usedforsecurity=False).hexdigest()
        return Committed(made, made, list(self.changes), [], b"bundle")

    @asynccontextmanager
    async def judged(self, run_id: UUID, commit: str, base_commit: str) -> AsyncGenerator[JudgedPair]:
        """Give empty copies."""
        if self.judging_trouble:
            raise self.judging_trouble
        place = self.place / str(uuid4())
        place.mkdir(parents=True)
        yield JudgedPair(place, place, ())

    async def file_at(self, run_id: UUID, commit: str, path: str, limit: int) -> bytes | None:
        """There is none."""
        return None


Say = Callable[[str, int], Awaitable[EvaluationStatus]]
"""What a gate says to an attempt of a phase."""


Words = Callable[[str, int], str]
"""Why a gate says what it says, apart from the status."""


def ever_new(phase: str, attempt: int) -> str:
    """Another reason each time, or the run would count as stuck."""
    return f"{phase} {attempt}"


Asks = Callable[[str, int], list[Question]]
"""What a gate that fails asks a human."""


def nothing(phase: str, attempt: int) -> list[Question]:
    """Ask nothing."""
    return []


Notes = Callable[[str, int], dict[str, Any]]
"""What a gate notes in its result."""


def no_note(phase: str, attempt: int) -> dict[str, Any]:
    """Note nothing."""
    return {}


async def holds(phase: str, attempt: int) -> EvaluationStatus:
    """Let everything pass."""
    return EvaluationStatus.PASSED


@dataclass(frozen=True)
class Gate:
    """Says what it is told to say."""

    say: Say = holds
    words: Words = ever_new
    asks: Asks = nothing
    notes: Notes = no_note
    name: str = "gate"
    category: EvaluationCategory = EvaluationCategory.CORRECTNESS
    is_deterministic: bool = True

    async def evaluate(self, phase: str, output: str, context: EvaluationContext) -> EvaluationResult:
        """Say it."""
        attempt = context.get("attempt", 0)
        status = await self.say(phase, attempt)
        return EvaluationResult(
            evaluator_name=self.name,
            category=self.category,
            passed=status is EvaluationStatus.PASSED,
            score=1.0 if status is EvaluationStatus.PASSED else 0.0,
            status=status,
            feedback=f"{self.words(phase, attempt)}: {status}",
            metadata={
                QUESTIONS: [each.model_dump(mode="json") for each in self.asks(phase, attempt)],
                **self.notes(phase, attempt),
            },
        )


class Engine:
    """Moves runs on as the queue's jobs would."""

    def __init__(
        self,
        cases: UseCases,
        place: Path,
        agents: Agents,
        say: Say = holds,
        words: Words = ever_new,
        asks: Asks = nothing,
        notes: Notes = no_note,
    ) -> None:
        registry = EvaluatorRegistry()
        registry.register(Gate(say, words, asks, notes))
        self.cases, self.agents = cases, agents
        self.trees = Trees(place)
        recorder = Recorder(cases.sessions, cases.bell)
        panel = PhasePanel(registry)
        self._advance = Advance(
            cases.sessions,
            recorder,
            {
                RunKind.SPRINT: KindSteps(
                    Producing(cases.sessions, recorder, CandidateRuns(agents, self.trees), AgentLimits()),
                    Judging(cases.sessions, recorder, panel, self.trees, FirstContender()),
                )
            },
        )
        self._job = 0

    async def run(self, *phases: str, **policy: Any) -> UUID:
        """Record a run of these phases."""
        plan = list(phases or ("coding",))
        document = RunPolicy(
            **{"retry_base_seconds": 0.0, "max_unavailable_seconds": 0.0, **policy}
        ).model_dump(mode="json")
        return await self.cases.rows.run(status="queued", phases=plan, phase=plan[0], policy=document)

    async def advance(self, run_id: UUID, *, job: int | None = None, again: int = 0) -> None:
        """Do the next job, or the one that is named."""
        self._job += 1
        await self._advance(run_id, self._job if job is None else job, again)

    def begin(self, run_id: UUID) -> asyncio.Task[None]:
        """Begin the next job."""
        return asyncio.create_task(self.advance(run_id))

    async def until_rest(self, run_id: UUID) -> str:
        """Do jobs until the run is over or waits; give its status."""
        for _ in range(50):
            await self.advance(run_id)
            status = (await self.cases.rows.get(run_id)).status
            if status not in ("queued", "active"):
                return status
        raise AssertionError("the run does not come to rest")

    async def attempts(self, run_id: UUID) -> list[Attempt]:
        """The run's attempts, by time."""
        async with self.cases.sessions() as session:
            statement = select(Attempt).where(Attempt.run_id == run_id).order_by(Attempt.started_at)
            return list(await session.scalars(statement))

    async def escalation(self, run_id: UUID) -> Escalation:
        """The run's open escalation."""
        async with self.cases.sessions() as session:
            statement = select(Escalation).where(Escalation.run_id == run_id, Escalation.status == "open")
            return (await session.execute(statement)).scalar_one()

    async def told(self, run_id: UUID) -> list[tuple[str, int | None]]:
        """Types of the run's events and the attempts they are about, in order; their numbers have no gap."""
        async with self.cases.sessions() as session:
            statement = select(EventRow).where(EventRow.run_id == run_id).order_by(EventRow.sequence)
            rows = list(await session.scalars(statement))
        assert [each.sequence for each in rows] == list(range(1, len(rows) + 1))
        return [(each.type, each.attempt) for each in rows]

    async def cut(self) -> None:
        """End every connection to the database, as a restart of the server does."""
        async with self.cases.sessions() as session:
            await session.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
