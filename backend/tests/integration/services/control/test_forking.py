"""Forking: a new sprint that begins with what an attempt left, and says where that came from."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import delete, select, text

from app.core.errors import ConflictError, NotFoundError
from app.db.engine import Sessions, create_engine, create_sessions
from app.db.models import Attempt, EventRow, Snapshot
from app.runners.budgets import DayBudgets
from app.schemas.api.run_details import RunFork
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import AttemptState, RunPolicy, RunStatus
from app.services.control.forking import ForkService
from app.services.control.idempotency import IdempotencyService, Once
from app.services.execute.trees import RunTrees
from app.services.record.accounts import Accounts
from app.services.record.budgets import BudgetKeeper, BudgetSpentError
from app.services.record.history import load_memory, load_run
from app.services.record.model_requests import RequestLedger
from app.services.record.transactions import EventBell
from app.workspaces.history.git import Git
from app.workspaces.store import WorkspaceStore
from tests.integration.services.support import UseCases, at_once, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "here") as opened:
        yield opened


def asked(**fields: Any) -> RunFork:
    return RunFork.model_validate({"phase": "coding", "attempt": 1} | fields)


async def with_attempt(cases: UseCases, **attempt: Any) -> UUID:
    """A sprint with an attempt that wrote `work.txt`, committed as the engine does."""
    request = SprintCreate.model_validate({"goal": "make it work", "source": {"kind": "empty"}})
    sprint = await cases.sprints.start(request, "ada")
    async with cases.trees.open(sprint.id, sprint.base_commit, 1) as (tree,):
        (tree / "work.txt").write_text("half done\n")
        made = await cases.trees.commit(sprint.id, tree, sprint.base_commit, sprint.base_commit, "attempt")
    async with cases.sessions.begin() as session:
        session.add(Snapshot(run_id=sprint.id, commit=made.commit, kind="attempt", bundle=made.bundle))
    values = {"head_commit": made.commit, "base_commit": sprint.base_commit, **attempt}
    await cases.rows.attempt(sprint.id, **values)
    return sprint.id


async def test_it_begins_with_what_the_attempt_left(cases: UseCases, tmp_path: Path) -> None:
    origin_id = await with_attempt(cases)
    events = await cases.rows.events(origin_id)
    origin = await cases.queries.get(origin_id)
    fork = await cases.forks.fork(origin_id, asked(guidance="Keep the parser."), "bob")

    left = origin.attempts[0].head_commit
    assert fork.forked_from is not None
    assert fork.forked_from.model_dump() == {
        "run_id": origin_id,
        "phase": "coding",
        "attempt": 1,
        "commit": left,
    }
    assert (fork.base_commit, fork.head_commit) == (origin.base_commit, left)
    assert (fork.status, fork.phase, fork.created_by) == (RunStatus.QUEUED, "coding", "bob")
    assert [each.phase for each in fork.phases] == ["coding", "verification"]
    assert (fork.name, fork.goal, fork.attempts) == ("make it work (fork)", "make it work", [])
    assert await cases.rows.jobs(fork.id) == 1
    assert await cases.rows.events(origin_id) == events
    (listed,) = (await cases.queries.get(origin_id)).forks
    assert (listed.run_id, listed.name, listed.attempt) == (fork.id, "make it work (fork)", 1)
    assert fork.forks == []
    async with cases.sessions() as session:
        created = (await session.scalars(select(EventRow.data).where(EventRow.run_id == fork.id))).one()
    assert created["forked_from"]["run_id"] == str(origin_id)

    # Another machine has nothing but the database.
    elsewhere = RunTrees(WorkspaceStore(tmp_path / "elsewhere", Git.find()), cases.sessions)
    async with elsewhere.open(fork.id, fork.head_commit, 1) as (tree,):
        assert (tree / "work.txt").read_text() == "half done\n"


async def test_its_prompts_hold_what_was_said_and_what_failed(cases: UseCases) -> None:
    origin_id = await with_attempt(cases)
    said = {"status": "resolved", "decision": "retry", "guidance": "Round half up.", "decided_by": "eve"}
    await cases.rows.escalation(origin_id, **said)
    fork = await cases.forks.fork(origin_id, asked(guidance="Keep the parser."), "bob")
    expected = [
        "Round half up.",
        "The files you start from failed before: 1 of 2 tests failed",
        "Keep the parser.",
    ]
    assert fork.guidance == expected
    async with cases.sessions() as session:
        memory = await load_memory(session, await load_run(session, fork.id))
    assert memory.guidance == expected
    # A fork of the fork does not forget either.
    await cases.rows.attempt(fork.id, head_commit=fork.head_commit, status="passed")
    again = await cases.forks.fork(fork.id, asked(), "bob")
    assert (again.guidance, again.name) == (expected, "make it work (fork)")


async def test_overrides(cases: UseCases) -> None:
    origin_id = await with_attempt(cases)
    agent = {"backend": "scripted", "script": {"title": "x", "phases": {"coding": [{"say": "x"}]}}}
    policy = {"max_attempts": 7, "budget": {"tokens": 5}}
    fork = await cases.forks.fork(origin_id, asked(name="Second try", agent=agent, policy=policy), "bob")
    assert (fork.name, fork.scripted) == ("Second try", True)
    assert (fork.policy.attempts_per_phase, fork.policy.budget.tokens) == (7, 5)
    plain = await cases.forks.fork(origin_id, asked(), "bob")
    origin = await cases.queries.get(origin_id)
    assert (plain.policy, plain.agent) == (origin.policy, origin.agent)


@pytest.mark.parametrize("status", ["queued", "active", "waiting", "completed", "failed", "cancelled"])
async def test_however_the_other_sprint_stands(cases: UseCases, status: str) -> None:
    origin_id = await with_attempt(cases)
    async with cases.sessions.begin() as session:
        connection = await session.connection()
        await connection.exec_driver_sql(f"UPDATE runs SET status = '{status}'")
    assert (await cases.forks.fork(origin_id, asked(), "bob")).status is RunStatus.QUEUED
    assert (await cases.rows.get(origin_id)).status == status


async def test_what_cannot_be_forked(cases: UseCases) -> None:
    origin_id = await with_attempt(cases)
    await cases.rows.attempt(origin_id, 2, head_commit=None, status=AttemptState.STARTED)
    refused = {
        "no such run": (uuid4(), asked(), NotFoundError, "no run"),
        "no such attempt": (origin_id, asked(attempt=9), NotFoundError, "no attempt 9"),
        "no such phase": (origin_id, asked(phase="discovery"), NotFoundError, "no attempt 1"),
        "no output yet": (
            origin_id,
            asked(attempt=2),
            ConflictError,
            "no output to begin with: it is started",
        ),
    }
    for run_id, request, error, told in refused.values():
        with pytest.raises(error, match=told):
            await cases.forks.fork(run_id, request, "bob")
    async with cases.sessions.begin() as session:
        await session.execute(delete(Snapshot).where(Snapshot.kind == "base"))
    with pytest.raises(ConflictError, match="no longer stored"):
        await cases.forks.fork(origin_id, asked(), "bob")
    assert await cases.rows.count("runs") == 1


async def test_the_same_request_many_times_at_once_forks_once(cases: UseCases) -> None:
    origin_id = await with_attempt(cases)
    repeats, key = IdempotencyService(cases.sessions), Once("a key", "POST fork", b"digest", 201)

    async def fork() -> Any:
        return await repeats.once(key, lambda once: cases.forks.fork(origin_id, asked(), "bob", once))

    answers = await at_once(*(fork() for _ in range(8)))
    assert len({answer.body["id"] for answer in answers}) == 1
    assert await cases.rows.count("runs") == 2
    async with cases.sessions() as session:
        assert len((await session.scalars(select(Attempt))).all()) == 1


def forking(sessions: Sessions, bell: EventBell, days: DayBudgets) -> ForkService:
    """The service of a process with daily budgets."""
    ledger = RequestLedger(sessions, Accounts(days), bell)
    return ForkService(sessions, RunPolicy(), bell, BudgetKeeper(sessions, ledger, days))


async def test_a_fork_needs_one_connection_also_with_daily_budgets(
    cases: UseCases, database_url: str
) -> None:
    run_id = await with_attempt(cases)
    engine = create_engine(database_url, pool_size=1)
    try:
        sessions = create_sessions(engine)
        forks = forking(sessions, cases.bell, DayBudgets(installation=1.0))
        # The pool has two connections; another request holds one of them.
        async with sessions.begin() as other:
            await other.execute(text("SELECT 1"))
            fork = await forks.fork(run_id, asked(), "ada")
    finally:
        await engine.dispose()
    assert (fork.status, fork.created_by) == (RunStatus.QUEUED, "ada")


async def test_a_fork_is_refused_while_a_daily_budget_is_spent(cases: UseCases) -> None:
    run_id = await with_attempt(cases)
    forks = forking(cases.sessions, cases.bell, DayBudgets(installation=0.0))
    with pytest.raises(BudgetSpentError):
        await forks.fork(run_id, asked(), "ada")
    assert await cases.rows.count("runs") == 1
