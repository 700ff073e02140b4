"""What the tests of use cases and of the API share: services on a real database, and runs in any state."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select, text

from app.db.engine import Sessions, create_engine, create_sessions
from app.db.models import Attempt, Candidate, Escalation, Evaluation, EventRow, Run
from app.runners.budgets import DayBudgets
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.phase_panel import PhasePanel
from app.schemas.answer_rules import RuleSets
from app.schemas.runs import RunPolicy
from app.services.backlog.items import BacklogService
from app.services.control.answers import AnswerService, answer_service
from app.services.control.cancelling import CancelService
from app.services.control.forking import ForkService
from app.services.control.intake import Intake
from app.services.control.loops import LoopService, loop_service
from app.services.control.pausing import PauseService
from app.services.control.sprints import SprintService, sprint_service
from app.services.execute.trees import RunTrees
from app.services.local.evaluations import EvaluationService
from app.services.read.run_lists import RunLists
from app.services.read.runs import RunQueries
from app.services.record.accounts import Accounts
from app.services.record.budgets import BudgetKeeper
from app.services.record.model_requests import RequestLedger
from app.services.review.escalations import EscalationService
from app.services.review.merging import MergeService
from app.services.review.results import ResultService
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.store import WorkspaceStore

COMMIT = "0" * 40
RULE_SETS = RuleSets.model_validate({"domains": {"shop": {"rules": ["Prices name their currency."]}}})


class RememberingBell:
    """Remembers for which runs it was rung."""

    def __init__(self) -> None:
        self.rung: list[UUID] = []

    def ring(self, run_id: UUID) -> None:
        self.rung.append(run_id)


@dataclass(frozen=True)
class Rows:
    """Puts runs into the database as the engine would leave them, and reads what became of them."""

    sessions: Sessions

    async def run(self, **values: Any) -> UUID:
        row = Run(
            id=uuid4(),
            **{
                "kind": "sprint",
                "name": "a sprint",
                "goal": "make it work",
                "phases": ["discovery", "coding", "verification"],
                "phase": "coding",
                "policy": RunPolicy().model_dump(mode="json"),
                "agent": {"backend": "auto", "candidates": 1},
                "source": {"kind": "empty", "location": "a new project"},
                "status": "active",
                "base_commit": COMMIT,
                "head_commit": COMMIT,
                "created_by": "test",
                **values,
            },
        )
        async with self.sessions.begin() as session:
            session.add(row)
        return row.id

    async def attempt(
        self,
        run_id: UUID,
        number: int = 1,
        *,
        evaluator: str = "pytest",
        details: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> UUID:
        """An attempt that failed; gives the id of the one evaluation of its only candidate."""
        attempt, candidate, evaluation = uuid4(), uuid4(), uuid4()
        defaults: dict[str, Any] = {
            "phase": "coding",
            "claim": uuid4(),
            "status": "failed",
            "prompt": "the prompt",
            "optimization_context": {},
            "output": "Done",
            "base_commit": COMMIT,
            "head_commit": "1" * 40,
            "verdict": "failed",
            "score": 0.5,
            "chosen_candidate": 0,
            "completed_at": datetime.now(UTC),
        }
        async with self.sessions.begin() as session:
            session.add(Attempt(id=attempt, run_id=run_id, number=number, **(defaults | values)))
            await session.flush()
            session.add(
                Candidate(
                    id=candidate,
                    attempt_id=attempt,
                    index=0,
                    agent="a",
                    provider="p",
                    output="Done",
                    metrics={},
                )
            )
            await session.flush()
            session.add(
                Evaluation(
                    id=evaluation,
                    candidate_id=candidate,
                    position=0,
                    evaluator=evaluator,
                    version="1",
                    category="functionality",
                    gate=True,
                    status="failed",
                    passed=False,
                    score=0.5,
                    feedback="1 of 2 tests failed",
                    criteria=[],
                    suggestions=[],
                    details=dict(details or {}),
                )
            )
        return evaluation

    async def escalation(self, run_id: UUID, attempt: int = 1, **values: Any) -> UUID:
        row = Escalation(
            id=uuid4(),
            run_id=run_id,
            **{
                "phase": "coding",
                "attempt": attempt,
                "reason_kind": "attempts_exhausted",
                "reason": "3 of 3 attempts failed",
                **values,
            },
        )
        async with self.sessions.begin() as session:
            session.add(row)
        return row.id

    async def waiting(self, **attempt: Any) -> tuple[UUID, UUID, UUID]:
        """A run that waits for a human; gives the ids of run, escalation and evaluation."""
        run_id = await self.run(status="waiting")
        evaluation_id = await self.attempt(run_id, **attempt)
        return run_id, await self.escalation(run_id), evaluation_id

    async def get(self, run_id: UUID) -> Run:
        async with self.sessions() as session:
            return await session.get_one(Run, run_id)

    async def events(self, run_id: UUID) -> list[str]:
        async with self.sessions() as session:
            statement = select(EventRow.type).where(EventRow.run_id == run_id).order_by(EventRow.sequence)
            return list(await session.scalars(statement))

    async def jobs(self, run_id: UUID) -> int:
        async with self.sessions() as session:
            statement = text("SELECT count(*) FROM procrastinate_jobs WHERE lock = :lock")
            return await session.scalar(statement, {"lock": str(run_id)}) or 0

    async def count(self, table: str) -> int:
        async with self.sessions() as session:
            return await session.scalar(text(f"SELECT count(*) FROM {table}")) or 0


@dataclass(frozen=True)
class UseCases:
    """Every use case, on one database and one directory."""

    sessions: Sessions
    data_dir: Path
    store: WorkspaceStore
    trees: RunTrees
    intake: Intake
    sprints: SprintService
    backlog: BacklogService
    loops: LoopService
    answers: AnswerService
    pauses: PauseService
    cancels: CancelService
    forks: ForkService
    lists: RunLists
    queries: RunQueries
    results: ResultService
    merges: MergeService
    escalations: EscalationService
    bell: RememberingBell = field(default_factory=RememberingBell)

    @property
    def rows(self) -> Rows:
        return Rows(self.sessions)


@asynccontextmanager
async def use_cases(
    database_url: str,
    data_dir: Path,
    sources: SourcePolicy = SourcePolicy(),  # noqa: B008 - it is frozen
    days: DayBudgets = DayBudgets(),  # noqa: B008 - it is frozen
) -> AsyncGenerator[UseCases]:
    """Build the use cases as the composition root does."""
    engine = create_engine(database_url, pool_size=10)
    sessions = create_sessions(engine)
    git = Git.find()
    store = WorkspaceStore(data_dir, git)
    trees = RunTrees(store, sessions)
    bell = RememberingBell()
    results = ResultService(sessions, trees)
    budgets = BudgetKeeper(sessions, RequestLedger(sessions, Accounts(days), bell), days)
    intake = Intake(sessions, store, git, sources, bell, budgets)
    try:
        yield UseCases(
            sessions=sessions,
            data_dir=data_dir,
            store=store,
            trees=trees,
            intake=intake,
            sprints=sprint_service(intake, RunPolicy()),
            backlog=BacklogService(sessions, intake),
            loops=loop_service(intake, RunPolicy(), EvaluatorRegistry()),
            answers=answer_service(intake, RunPolicy(), RULE_SETS),
            pauses=PauseService(sessions, bell),
            cancels=CancelService(sessions, bell),
            forks=ForkService(sessions, RunPolicy(), bell),
            lists=RunLists(sessions),
            queries=RunQueries(sessions),
            results=results,
            merges=MergeService(sessions, results, trees, git, SourcePolicy()),
            escalations=EscalationService(sessions, bell),
            bell=bell,
        )
    finally:
        await engine.dispose()


def evaluations(
    registry: EvaluatorRegistry, sources: SourcePolicy | None = None, at_once: int | None = None
) -> EvaluationService:
    """The service that judges workspaces, with these evaluators."""
    return EvaluationService(
        PhasePanel(registry),
        RunPolicy(),
        Git.find(),
        sources or SourcePolicy(),
        WorkspaceLimits(),
        registry.describe(),
        at_once,
    )


def git(repo: Path, *arguments: str) -> str:
    """Run git as a user would, without his configuration."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=repo, check=True, capture_output=True, text=True
    ).stdout.strip()


def make_repository(path: Path) -> Path:
    """A repository with one commit and an uncommitted change."""
    path.mkdir(parents=True)
    (path / "a.py").write_text("x = 1\n")
    git(path, "init", "-q", "-b", "main")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "first")
    (path / "a.py").write_text("x = 2\n")
    return path


async def at_once(*works: Any) -> list[Any]:
    """Await all side by side; give results, or the exceptions in their places."""

    async def caught(work: Any) -> Any:
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - handed to the test as a value
            return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(caught(each)) for each in works]
    return [each.result() for each in tasks]
