"""The backlog on a real database: items start once, in order, and within limits."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update
from typing_extensions import override

from app.core.errors import ConflictError, InvalidInputError
from app.db.models import BacklogItem, ForgeReport, Run
from app.schemas.api.backlog import (
    BacklogAdd,
    BacklogBoard,
    BacklogChange,
    BacklogProjectChange,
    ProjectLimits,
)
from app.schemas.runs import RunPolicy
from app.services.backlog.reading import BacklogBoardQueries
from app.services.backlog.starting import BacklogStarter
from app.services.control.sprints import sprint_service
from app.services.record.budgets import BudgetKeeper
from tests.integration.services.support import UseCases, at_once, git, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    repository = tmp_path / "project"
    repository.mkdir()
    (repository / "a.py").write_text("A = 1\n")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    return repository


def item(project: Path, goal: str, **more: Any) -> dict[str, Any]:
    return {"sprint": {"goal": goal, "source": {"kind": "local", "path": str(project)}}, **more}


async def add(cases: UseCases, *items: dict[str, Any]) -> list[UUID]:
    found = await cases.backlog.add(BacklogAdd.model_validate({"items": items}), "ada")
    return [each.id for each in found.items]


async def start(cases: UseCases) -> int:
    return await BacklogStarter(cases.sessions, cases.sprints)()


def move(project: Path) -> None:
    project.rename(project.with_name("elsewhere"))


async def board(cases: UseCases) -> BacklogBoard:
    return await BacklogBoardQueries(cases.sessions).board()


async def reasons(cases: UseCases) -> dict[str, str]:
    return {each.name: each.reason for each in (await board(cases)).waiting}


async def set_run(cases: UseCases, run_id: UUID, **values: Any) -> None:
    async with cases.sessions.begin() as session:
        await session.execute(update(Run).where(Run.id == run_id).values(values))


async def test_an_item_starts_after_what_it_needs(cases: UseCases, project: Path) -> None:
    first, second, third = await add(
        cases,
        item(project, "first", key="a"),
        item(project, "second", depends_on=[{"on": "a"}]),
        item(project, "third", depends_on=[{"on": "a", "until": "merged"}]),
    )
    assert await start(cases) == 1
    assert await cases.rows.jobs(first) == 1
    assert await start(cases) == 0
    assert await reasons(cases) == dict.fromkeys(("second", "third"), "waits for first, which is running")
    await set_run(cases, first, status="completed")
    assert await start(cases) == 1
    assert (await cases.rows.get(second)).status == "queued"
    assert await reasons(cases) == {"third": "needs first to be merged, but it has no pull request"}
    async with cases.sessions.begin() as session:
        session.add(ForgeReport(run_id=first, forge="f", repository="a/b", outcome="merged"))
    assert await start(cases) == 1
    assert (await cases.rows.get(third)).created_by == "ada"
    assert (await board(cases)).waiting == []


async def test_a_dependency_that_fails_says_so(cases: UseCases, project: Path) -> None:
    run_id = await cases.rows.run(status="failed", name="old work")
    (waiting,) = await add(cases, item(project, "next", depends_on=[{"on": str(run_id)}]))
    assert await start(cases) == 0
    assert await reasons(cases) == {"next": "needs old work, which failed"}
    await cases.backlog.change(waiting, BacklogChange(depends_on=[]))
    assert await start(cases) == 1


async def test_priority_and_limits_hold_with_many_workers(cases: UseCases, project: Path) -> None:
    ids = await add(cases, *(item(project, f"item {n}", priority=n) for n in range(4)))
    limits = ProjectLimits(running=2)
    await cases.backlog.change_project(BacklogProjectChange(project=str(project), limits=limits), "ada")
    assert sum(await at_once(*(start(cases) for _ in range(4)))) == 2
    running = {each.id for each in (await board(cases)).running.items}
    assert running == {ids[3], ids[2]}
    assert set((await reasons(cases)).values()) == {"2 runs are under way; the project's limit is 2"}


async def test_people_are_not_drowned_and_a_pause_holds(cases: UseCases, project: Path) -> None:
    name = str(project)
    run_id = await cases.rows.run(status="waiting", source={"kind": "local", "location": name})
    await add(cases, item(project, "next"))
    change = BacklogProjectChange(project=name, limits=ProjectLimits(waiting_for_humans=1), paused=True)
    shown = await cases.backlog.change_project(change, "ada")
    assert (shown.waiting_for_humans, shown.paused_by) == (1, "ada")
    await start(cases)
    assert await reasons(cases) == {"next": "the project's backlog is paused"}
    await cases.backlog.change_project(BacklogProjectChange(project=name, paused=False), "ada")
    await start(cases)
    assert await reasons(cases) == {"next": "1 wait for a person; the project's limit is 1"}
    await set_run(cases, run_id, status="failed")
    assert await start(cases) == 1


async def test_a_worker_that_dies_while_it_starts_loses_nothing(cases: UseCases, project: Path) -> None:
    lost, started = await add(cases, item(project, "lost"), item(project, "started"))
    async with cases.sessions.begin() as session:
        dead = {"status": "starting", "tries": 1}
        await session.execute(update(BacklogItem).where(BacklogItem.id == lost).values(dead))
    assert await start(cases) == 2
    async with cases.sessions() as session:
        rows = {each.id: each.status for each in await session.scalars(select(BacklogItem))}
    assert rows == {lost: "started", started: "started"}


async def test_a_source_that_is_gone_is_tried_later(cases: UseCases, project: Path) -> None:
    await add(cases, item(project, "next"))
    move(project)
    assert await start(cases) == 1
    assert (await reasons(cases))["next"].startswith("it could not start: ")
    assert await start(cases) == 0
    assert await cases.rows.count("runs") == 0


class Interrupted(BudgetKeeper):
    """Lets something happen before the first import begins."""

    def __init__(self, happens: Callable[[], Awaitable[None]]) -> None:
        self._happens = [happens]

    @override
    async def check_day(self, project: str) -> None:
        while self._happens:
            await self._happens.pop()()


def interrupted(cases: UseCases, happens: Callable[[], Awaitable[None]]) -> BacklogStarter:
    intake = replace(cases.intake, budgets=Interrupted(happens))
    return BacklogStarter(cases.sessions, sprint_service(intake, RunPolicy()))


async def statuses(cases: UseCases) -> dict[str, str]:
    async with cases.sessions() as session:
        return {each.name: each.status for each in await session.scalars(select(BacklogItem))}


async def test_a_start_that_outlasts_its_lease_leaves_the_next_one_alone(
    cases: UseCases, project: Path
) -> None:
    ids = await add(cases, item(project, "first"), item(project, "second"))

    async def another_worker_starts_both() -> None:
        async with cases.sessions.begin() as session:
            await session.execute(update(BacklogItem).values(next_at=datetime.now(UTC)))
        assert await start(cases) == 2

    assert await interrupted(cases, another_worker_starts_both)() == 2
    assert await statuses(cases) == {"first": "started", "second": "started"}
    assert await cases.rows.count("runs") == 2
    for each in ids:
        run = await cases.rows.get(each)
        assert await cases.store.repository(each).has(run.base_commit), "its files are there"


async def test_a_late_start_does_not_take_an_item_from_the_next_worker(
    cases: UseCases, project: Path
) -> None:
    await add(cases, item(project, "first"), item(project, "second"))

    async def another_worker_takes_the_second() -> None:
        async with cases.sessions.begin() as session:
            second = update(BacklogItem).where(BacklogItem.name == "second")
            await session.execute(second.values(tries=BacklogItem.tries + 1))

    assert await interrupted(cases, another_worker_takes_the_second)() == 2
    assert await statuses(cases) == {"first": "started", "second": "starting"}
    assert await cases.rows.count("runs") == 1


async def test_each_start_has_the_whole_lease(cases: UseCases, project: Path) -> None:
    await add(cases, item(project, "first"), item(project, "second"))
    ended = datetime.now(UTC)

    async def the_first_takes_its_time() -> None:
        async with cases.sessions.begin() as session:
            await session.execute(update(BacklogItem).values(next_at=ended))

    await interrupted(cases, the_first_takes_its_time)()
    async with cases.sessions() as session:
        rows = {each.name: each for each in await session.scalars(select(BacklogItem))}
    assert rows["first"].next_at == ended
    assert rows["second"].next_at > ended + timedelta(minutes=1)


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyError("name")], ids=["disk", "fault"]
)
async def test_an_item_that_fails_does_not_stop_the_others(
    cases: UseCases, project: Path, error: Exception
) -> None:
    await add(cases, item(project, "first"), item(project, "second"))

    async def fails() -> None:
        raise error

    assert await interrupted(cases, fails)() == 2
    assert await statuses(cases) == {"first": "waiting", "second": "started"}
    said = (await reasons(cases))["first"]
    assert said.startswith("it could not start: ")
    assert str(error) in said


async def test_bad_items_are_refused_as_a_whole(cases: UseCases, project: Path) -> None:
    circle = (
        item(project, "a", key="a", depends_on=[{"on": "b"}]),
        item(project, "b", key="b", depends_on=[{"on": "a"}]),
    )
    with pytest.raises(InvalidInputError, match="wait for each other: a → b → a"):
        await add(cases, *circle)
    for on in (str(uuid4()), "nothing"):
        with pytest.raises(InvalidInputError) as refused:
            await add(cases, item(project, "fine"), item(project, "bad", depends_on=[{"on": on}]))
        assert str(refused.value.field).startswith("items.1.depends_on")
    secret = {"sprint": {"goal": "x", "source": {"kind": "git", "url": "https://u:pw@example.org/x"}}}
    with pytest.raises(InvalidInputError, match="keeps no passwords"):
        await add(cases, secret)
    assert (await board(cases)).waiting_total == 0


async def test_a_change_that_closes_a_circle_is_refused(cases: UseCases, project: Path) -> None:
    first, second = await add(
        cases, item(project, "a", key="a"), item(project, "b", depends_on=[{"on": "a"}])
    )
    change = BacklogChange.model_validate({"depends_on": [{"on": str(second)}]})
    with pytest.raises(InvalidInputError, match="wait for each other"):
        await cases.backlog.change(first, change)
    await cases.backlog.remove(first)
    await start(cases)
    assert await reasons(cases) == {"b": "needs a, which was removed from the backlog"}
    with pytest.raises(ConflictError, match="was removed"):
        await cases.backlog.remove(first)


async def test_what_was_asked_for_is_what_starts(cases: UseCases, project: Path) -> None:
    sprint = item(project, "goal")["sprint"] | {"policy": {"attempts_per_phase": 2}, "phases": ["coding"]}
    sprint["agent"] = {"backend": "pydantic-ai", "model": "openai:m", "candidates": 2}
    (item_id,) = await add(cases, {"sprint": sprint})
    await start(cases)
    run = await cases.rows.get(item_id)
    assert (run.phases, run.policy["max_attempts"], run.agent["candidates"]) == (["coding"], 2, 2)


def test_items_of_a_request_have_their_own_keys(project: Path) -> None:
    same = [item(project, "a", key="k"), item(project, "b", key="k")]
    with pytest.raises(ValueError, match=r"items\.1\.key: 'k' is defined twice"):
        BacklogAdd.model_validate({"items": same})
