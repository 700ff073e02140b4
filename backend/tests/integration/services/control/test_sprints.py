"""Starting sprints: all of it or nothing."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from app.core.errors import WorkspaceError
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunPolicy, RunStatus
from app.services.control.idempotency import UNKEYED
from app.services.control.sprints import sprint_service
from tests.integration.services.support import UseCases, git, make_repository, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data dir") as opened:
        yield opened


def request(**fields: Any) -> SprintCreate:
    return SprintCreate.model_validate({"goal": "make it work", "source": {"kind": "empty"}} | fields)


def files_of_runs(cases: UseCases) -> list[Path]:
    return [*(cases.data_dir / "runs").glob("*"), *(cases.data_dir / "scratch" / "imports").glob("*")]


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


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        pytest.param({}, "codex", id="none is named"),
        pytest.param({"model": "openai:gpt-5", "candidates": 2}, "codex openai:gpt-5", id="a model is named"),
        pytest.param({"backend": "pydantic-ai"}, "pydantic-ai", id="another is named"),
        pytest.param({"candidates": [{"agent": "opencode"}]}, "opencode", id="candidates are named"),
    ],
)
async def test_a_sprint_says_which_agent_works_by_default(
    cases: UseCases, asked: dict[str, Any], label: str
) -> None:
    by_default = sprint_service(replace(cases.intake, default_agent="codex"), RunPolicy())
    sprint = await by_default.start(request(agent=asked), "ada")
    assert sprint.agent == label


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


async def test_a_second_start_with_the_same_id_leaves_the_run_alone(cases: UseCases) -> None:
    new = replace(cases.sprints.prepare(request(), "ada"), id=uuid4())
    run = await cases.sprints.intake.start(new, cases.sprints.show, UNKEYED)
    (files,) = files_of_runs(cases)
    repository = cases.store.repository(run.id)
    place = repository.path.stat().st_ino
    kept = files / "sessions" / "conversation"
    kept.parent.mkdir()
    kept.write_text("hello")
    with pytest.raises(IntegrityError):
        await cases.sprints.intake.start(new, cases.sprints.show, UNKEYED)
    assert kept.read_text() == "hello"
    assert repository.path.stat().st_ino == place, "the same repository, not another import"
    assert await repository.has(run.base_commit)
    assert files_of_runs(cases) == [files]


async def test_a_run_whose_files_cannot_be_kept_is_restored(cases: UseCases) -> None:
    cases.data_dir.mkdir(exist_ok=True)
    (cases.data_dir / "runs").write_text("in the way")
    run = await cases.sprints.start(request(), "ada")
    (cases.data_dir / "runs").unlink()
    assert await (await cases.trees.repository(run.id, run.base_commit)).has(run.base_commit)


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
