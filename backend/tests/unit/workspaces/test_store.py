"""Files of runs have their places, and cleaning never reaches beyond them."""

import os
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.schemas.workspaces import EmptySource
from app.workspaces.history.git import Git
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.store import WorkspaceStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(git: Git, tmp_path: Path) -> WorkspaceStore:
    return WorkspaceStore(tmp_path / "data dir", git)


@pytest.fixture
async def run(store: WorkspaceStore) -> tuple[UUID, str]:
    run_id = uuid4()
    return run_id, await import_source(EmptySource(), store.repository(run_id), SourcePolicy())


async def test_an_attempt_and_its_judged_copies(store: WorkspaceStore, run: tuple[UUID, str]) -> None:
    run_id, base = run
    claim = uuid4()
    repository = store.repository(run_id)
    trees = [store.tree(run_id, claim, candidate) for candidate in (0, 1)]
    for number, tree in enumerate(trees):
        await repository.checkout(base, tree)
        (tree / f"{number}.py").write_text("x = 1\n")
    first = await repository.commit_tree(trees[0], base, "first")
    async with store.judged(run_id, first.commit, base) as pair:
        assert os.listdir(pair.candidate) == ["0.py"]
        assert os.listdir(pair.base) == []
        assert pair.withheld == ()
        async with store.judged(run_id, first.commit, base) as other:
            assert other.candidate != pair.candidate
        (pair.candidate / "left").mkdir(mode=0o500)
        place = pair.candidate.parent
    assert not place.exists()


async def test_judged_copies_go_when_judging_fails(store: WorkspaceStore, run: tuple[UUID, str]) -> None:
    run_id, base = run
    places: list[Path] = []

    async def judge() -> None:
        async with store.judged(run_id, base, base) as pair:
            places.append(pair.candidate.parent)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await judge()
    assert len(places) == 1
    assert not places[0].exists()


async def test_what_is_on_the_disk_is_listed(
    store: WorkspaceStore, run: tuple[UUID, str], tmp_path: Path
) -> None:
    run_id, base = run
    claim = uuid4()
    await store.repository(run_id).checkout(base, store.tree(run_id, claim))
    (tmp_path / "data dir" / "runs" / "not-a-run").mkdir()
    (tmp_path / "data dir" / "runs" / "file").touch()
    assert await store.runs_on_disk() == [run_id]
    attempts = tmp_path / "data dir" / "scratch" / "attempts"
    assert os.listdir(attempts) == [f"{run_id}-{claim}"]
    await store.remove_claim(run_id, claim)
    await store.remove_claim(run_id, claim)
    assert os.listdir(attempts) == []
    await store.remove_run(run_id)
    assert await store.runs_on_disk() == []


async def test_nothing_on_the_disk(store: WorkspaceStore) -> None:
    assert await store.runs_on_disk() == []
    await store.remove_run(uuid4())


async def test_removal_follows_no_link_and_stops_at_no_mode(
    store: WorkspaceStore, run: tuple[UUID, str], tmp_path: Path
) -> None:
    run_id, base = run
    claim = uuid4()
    tree = store.tree(run_id, claim)
    await store.repository(run_id).checkout(base, tree)
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    closed = tree / "closed"
    closed.mkdir()
    (closed / "file").touch()
    (closed / "link").symlink_to(outside)
    (tree / "--no-preserve-root").mkdir()
    closed.chmod(0)
    tree.chmod(0o500)
    await store.remove_claim(run_id, claim)
    assert not tree.parent.parent.exists()
    assert outside.stat().st_mode & 0o777 == 0o500
    assert store.repository(run_id).exists
