"""Starting and cancelling sprints: all of it or nothing, and once for one request."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import ConflictError, InvalidInputError, NotFoundError, WorkspaceError
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunStatus
from app.schemas.workspaces import GitSource, SourceInfo
from app.services.control.idempotency import IdempotencyService, Once
from app.services.control.sprints import name_of, source_document
from tests.integration.services.support import UseCases, at_once, git, make_repository, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data dir") as opened:
        yield opened


def request(**fields: Any) -> SprintCreate:
    return SprintCreate.model_validate({"goal": "make it work", "source": {"kind": "empty"}} | fields)


def files_of_runs(cases: UseCases) -> list[Path]:
    return list((cases.data_dir / "runs").glob("*"))


async def test_a_sprint_starts_from_the_commit_and_not_from_the_working_tree(
    cases: UseCases, tmp_path: Path
) -> None:
    repo = make_repository(tmp_path / "my project")
    before = git(repo, "status", "--porcelain")
    source = {"kind": "local", "path": str(repo)}
    sprint = await cases.sprints.start(
        request(goal="First line\nand more", source=source, policy={"max_attempts": 5}), "ada"
    )

    assert sprint.base_commit == sprint.head_commit == git(repo, "rev-parse", "HEAD")
    assert (sprint.name, sprint.status, sprint.phase) == ("First line", RunStatus.QUEUED, "discovery")
    assert (sprint.created_by, sprint.policy.attempts_per_phase, sprint.last_sequence) == ("ada", 5, 1)
    assert [each.status for each in sprint.phases] == ["pending", "pending", "pending"]
    assert "uncommitted" in sprint.source["notes"][0]
    assert await cases.rows.events(sprint.id) == ["run.created"]
    assert await cases.rows.jobs(sprint.id) == 1
    assert await cases.rows.count("snapshots") == 1
    assert cases.bell.rung == [sprint.id]
    assert sprint == await cases.queries.get(sprint.id)
    assert git(repo, "status", "--porcelain") == before


async def test_a_script_is_called_one(cases: UseCases) -> None:
    script = {"title": "Teatime", "phases": {"coding": [{"say": "x"}]}}
    sprint = await cases.sprints.start(request(agent={"backend": "scripted", "script": script}), "ada")
    assert sprint.scripted
    assert "no model" in sprint.agent
    assert "Teatime" in sprint.agent


async def test_what_cannot_be_recorded_leaves_nothing(cases: UseCases) -> None:
    async with cases.sessions.begin() as session:
        connection = await session.connection()
        await connection.exec_driver_sql("ALTER TABLE snapshots RENAME TO elsewhere")
    with pytest.raises(SQLAlchemyError):
        await cases.sprints.start(request(), "ada")
    assert await cases.rows.count("runs") == 0
    assert await cases.rows.count("procrastinate_jobs") == 0
    assert files_of_runs(cases) == []
    assert cases.bell.rung == []


SOURCES = {
    "empty repository": ("init", WorkspaceError, "source.path"),
    "no repository": ("", WorkspaceError, "source.path"),
}


@pytest.mark.parametrize(("prepared", "error", "field"), SOURCES.values(), ids=SOURCES.keys())
async def test_a_source_that_cannot_be_used(
    cases: UseCases, tmp_path: Path, prepared: str, error: type[Exception], field: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    if prepared:
        git(place, prepared, "-q")
    with pytest.raises(error) as raised:
        await cases.sprints.start(request(source={"kind": "local", "path": str(place)}), "ada")
    assert isinstance(raised.value, WorkspaceError)
    assert raised.value.field == field
    assert files_of_runs(cases) == []


async def test_a_commit_that_is_not_there(cases: UseCases, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    with pytest.raises(WorkspaceError) as raised:
        await cases.sprints.start(request(source={"kind": "local", "path": str(repo), "ref": "nope"}), "ada")
    assert raised.value.field == "source.ref"


def test_passwords_in_urls_are_not_kept() -> None:
    source = GitSource(url="https://ada:secret@example.org/a.git")
    info = SourceInfo(kind="git", location="https://***@example.org/a.git", pinned=source)
    assert "secret" not in str(source_document(info))


NAMES = {
    "short": ("Fix it", "Fix it"),
    "several lines": ("  Fix it \r\n now", "Fix it"),
    "long": ("x" * 200, "x" * 79 + "…"),
    "blank first line": ("\n\n Fix it", "Fix it"),
}


@pytest.mark.parametrize(("goal", "name"), NAMES.values(), ids=NAMES.keys())
def test_the_name_comes_from_the_goal(goal: str, name: str) -> None:
    assert name_of(goal) == name


async def test_the_same_request_many_times_at_once_starts_one_sprint(cases: UseCases) -> None:
    repeats = IdempotencyService(cases.sessions)
    key = Once("a key", "POST /sprints", b"digest", 201)

    async def start() -> Any:
        return await repeats.once(key, lambda once: cases.sprints.start(request(), "ada", once))

    # More than there are connections: waiting for one another must not need them all.
    answers = await at_once(*(start() for _ in range(24)))
    assert {answer.status for answer in answers} == {201}
    assert len({answer.body["id"] for answer in answers}) == 1
    assert [answer.repeated for answer in answers].count(False) == 1
    assert await cases.rows.count("runs") == 1
    assert len(files_of_runs(cases)) == 1
    assert all(answer.body == answers[0].body for answer in answers)


async def test_a_key_of_another_request(cases: UseCases) -> None:
    repeats = IdempotencyService(cases.sessions)
    first, other = (Once("a key", "POST /sprints", digest) for digest in (b"one", b"two"))
    await repeats.once(first, lambda once: cases.sprints.start(request(), "ada", once))
    with pytest.raises(ConflictError, match="another request"):
        await repeats.once(other, lambda once: cases.sprints.start(request(), "ada", once))
    assert await cases.rows.count("runs") == 1


async def test_failures_are_not_kept(cases: UseCases, tmp_path: Path) -> None:
    repeats = IdempotencyService(cases.sessions)
    key = Once("a key", "POST /sprints", b"digest")
    local = request(source={"kind": "local", "path": str(tmp_path / "project")})
    with pytest.raises(InvalidInputError):
        await repeats.once(key, lambda once: cases.sprints.start(local, "ada", once))
    make_repository(tmp_path / "project")
    answer = await repeats.once(key, lambda once: cases.sprints.start(local, "ada", once))
    assert not answer.repeated


async def test_a_waiting_sprint_is_cancelled(cases: UseCases) -> None:
    run_id, escalation_id, _ = await cases.rows.waiting()
    sprint = await cases.sprints.cancel(run_id, "wrong goal", "ada")
    assert (sprint.status, sprint.status_reason) == (RunStatus.CANCELLED, "wrong goal")
    assert sprint.finished_at is not None
    assert sprint.escalation_id is None
    assert (await cases.escalations.get(escalation_id)).status == "withdrawn"
    assert await cases.rows.events(run_id) == ["run.cancelled"]
    assert await cases.rows.jobs(run_id) == 0
    assert cases.bell.rung == [run_id]


async def test_a_queued_sprint_loses_its_job_when_cancelled(cases: UseCases) -> None:
    sprint = await cases.sprints.start(request(), "ada")
    await cases.sprints.cancel(sprint.id, "", "bob")
    assert await cases.rows.jobs(sprint.id) == 0
    assert (await cases.rows.get(sprint.id)).status_reason == "cancelled by bob"


async def test_only_one_of_many_cancels(cases: UseCases) -> None:
    run_id = await cases.rows.run()
    answers = await at_once(*(cases.sprints.cancel(run_id, "", name) for name in ("ada", "bob", "eve")))
    refused = [each for each in answers if isinstance(each, ConflictError)]
    assert len(refused) == 2
    assert all("the sprint is cancelled since" in each.detail for each in refused)
    assert await cases.rows.events(run_id) == ["run.cancelled"]


async def test_a_sprint_that_does_not_exist_cannot_be_cancelled(cases: UseCases) -> None:
    with pytest.raises(NotFoundError):
        await cases.sprints.cancel(uuid4(), "", "ada")
