"""What an agent has changed so far comes from its worker through the database, on demand and bounded."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select, update

from app.core.errors import ConflictError, NotFoundError, WorkspaceError
from app.db.models import Attempt, WorkspaceLook
from app.schemas.workspaces import Diff, FileDiff
from app.services.execute.looks import LookKeeper
from app.services.review.looks import MOST_FILES, LookService
from tests.integration.services.support import COMMIT, UseCases, use_cases
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


def _file(path: str) -> FileDiff:
    return FileDiff(path=path, status="added", additions=2, deletions=1, patch=f"+{path}")


class Workspaces:
    """Workspaces of agents that change one file more with each look."""

    def __init__(self) -> None:
        self.looks: list[tuple[int, str]] = []
        self.trouble: Exception | None = None
        self.files = 0

    async def look_at(self, run_id: UUID, claim: UUID, candidate: int, start: str) -> Diff:
        self.looks.append((candidate, start))
        if self.trouble:
            raise self.trouble
        self.files += 1
        return Diff(files=tuple(_file(f"{number}.py") for number in range(self.files)))


class Scene:
    """An attempt at work, its worker, and a service that has nothing of the worker but the database."""

    def __init__(self, cases: UseCases, run_id: UUID, claim: UUID) -> None:
        self.cases, self.run_id, self.claim = cases, run_id, claim
        self.workspaces = Workspaces()
        self.service = LookService(cases.sessions, patience=PATIENCE)

    def worker(self, claim: UUID | None = None) -> AbstractAsyncContextManager[None]:
        return LookKeeper(self.cases.sessions, self.workspaces)(self.run_id, claim or self.claim)

    async def rows(self) -> int:
        async with self.cases.sessions() as session:
            return await session.scalar(select(func.count()).select_from(WorkspaceLook)) or 0

    async def change(self, **values: object) -> None:
        async with self.cases.sessions.begin() as session:
            await session.execute(update(Attempt).where(Attempt.run_id == self.run_id).values(**values))

    async def age(self, seconds: int) -> None:
        """Make what was looked at older."""
        past = func.make_interval(0, 0, 0, 0, 0, 0, seconds)
        taken, wanted = WorkspaceLook.taken_at - past, WorkspaceLook.wanted_at - past
        async with self.cases.sessions.begin() as session:
            await session.execute(update(WorkspaceLook).values(taken_at=taken, wanted_at=wanted))


@pytest.fixture
async def scene(cases: UseCases) -> Scene:
    claim = uuid4()
    run_id = await cases.rows.run()
    at_work = {"status": "started", "verdict": None, "completed_at": None, "head_commit": None}
    await cases.rows.attempt(run_id, claim=claim, **at_work)
    return Scene(cases, run_id, claim)


async def test_a_look_comes_from_the_worker_grows_and_leaves_nothing(scene: Scene) -> None:
    async with scene.worker():
        first = await scene.service.look(scene.run_id, "coding", 1, 0)
        assert [each.path for each in first.files] == ["0.py"]
        assert (first.changed_files, first.additions, first.deletions) == (1, 2, 1)
        assert first.base_commit == COMMIT
        await scene.age(60)
        second = await scene.service.look(scene.run_id, "coding", 1, 0)
        assert [each.path for each in second.files] == ["0.py", "1.py"]
        assert second.taken_at > first.taken_at
        assert await scene.rows() == 1
    assert await scene.rows() == 0
    assert scene.workspaces.looks == [(0, COMMIT)] * 2


async def test_without_a_reader_no_workspace_is_read(scene: Scene) -> None:
    async with scene.worker():
        await asyncio.sleep(2.5)
    assert scene.workspaces.looks == []


async def test_those_who_ask_at_the_same_time_get_one_look(scene: Scene) -> None:
    async with scene.worker(), asyncio.TaskGroup() as group:
        asked = [group.create_task(scene.service.look(scene.run_id, "coding", 1, 0)) for _ in range(5)]
    assert len({each.result().taken_at for each in asked}) == 1
    assert len(scene.workspaces.looks) == 1


async def test_files_are_named_up_to_a_limit_and_all_counted(scene: Scene) -> None:
    scene.workspaces.files = MOST_FILES
    async with scene.worker():
        found = await scene.service.look(scene.run_id, "coding", 1, 3)
    assert (len(found.files), found.changed_files) == (MOST_FILES, MOST_FILES + 1)
    assert found.additions == 2 * (MOST_FILES + 1)
    assert scene.workspaces.looks == [(3, COMMIT)]


async def test_a_workspace_that_cannot_be_read_is_said(scene: Scene) -> None:
    scene.workspaces.trouble = WorkspaceError("the workspace is too large")
    async with scene.worker():
        with pytest.raises(ConflictError, match="cannot be read: the workspace is too large"):
            await scene.service.look(scene.run_id, "coding", 1, 0)


async def test_a_worker_that_does_not_answer_is_said(scene: Scene) -> None:
    impatient = LookService(scene.cases.sessions, patience=0.5)
    with pytest.raises(ConflictError, match=r"has not answered within 0\.5 s"):
        await impatient.look(scene.run_id, "coding", 1, 0)
    # A worker that lost its attempt to another one shows nothing of it, and what is left goes with the run.
    lost, claim = scene.claim, uuid4()
    await scene.change(claim=claim)
    async with scene.worker(lost):
        with pytest.raises(ConflictError, match="has not answered"):
            await LookService(scene.cases.sessions, patience=2.5).look(scene.run_id, "coding", 1, 0)
    assert scene.workspaces.looks == []
    async with scene.worker(claim):
        assert (await scene.service.look(scene.run_id, "coding", 1, 0)).changed_files == 1
    assert await scene.rows() == 0


async def test_an_end_in_the_meantime_is_said(scene: Scene) -> None:
    asked = asyncio.create_task(scene.service.look(scene.run_id, "coding", 1, 0))
    for _ in range(1_000):
        if await scene.rows():
            break
        await asyncio.sleep(0.02)
    async with scene.worker():
        pass
    with pytest.raises(ConflictError, match="the agent of attempt 1 of coding has ended"):
        await asked
    await scene.change(status="produced")
    with pytest.raises(ConflictError, match="no agent works on attempt 1 of coding"):
        await scene.service.look(scene.run_id, "coding", 1, 0)
    with pytest.raises(NotFoundError):
        await scene.service.look(scene.run_id, "coding", 2, 0)
