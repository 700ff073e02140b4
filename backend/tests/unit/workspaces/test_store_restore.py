"""Restoring a run's repository, also by several processes at once."""

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from app.schemas.workspaces import EmptySource
from app.workspaces.history.git import Git
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.store import WorkspaceStore

pytestmark = pytest.mark.anyio


async def snapshot(store: WorkspaceStore) -> tuple[str, bytes]:
    """The base of a new project, and the bundle that restores it on a machine without its files."""
    run_id = uuid4()
    repository = store.repository(run_id)
    base = await import_source(EmptySource(), repository, SourcePolicy())
    bundle = await repository.bundle(base)
    await store.remove_run(run_id)
    return base, bundle


async def test_restoring_at_the_same_time_gives_one_whole_repository(tmp_path: Path) -> None:
    store = WorkspaceStore(tmp_path, Git.find())
    base, bundle = await snapshot(store)
    run_id = uuid4()
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(store.restore(run_id, bundle))
    repository = store.repository(run_id)
    assert repository.exists
    assert await repository.has(base)
    assert [each.name for each in repository.path.parent.iterdir()] == ["repo.git"]


async def test_what_an_interrupted_import_left_is_replaced(tmp_path: Path) -> None:
    store = WorkspaceStore(tmp_path, Git.find())
    base, bundle = await snapshot(store)
    run_id = uuid4()
    torn = store.repository(run_id).path
    torn.mkdir(parents=True)
    (torn / "HEAD").write_text("torn")
    await store.restore(run_id, bundle)
    assert await store.repository(run_id).has(base)
