"""Copies of a workspace."""

import os
from pathlib import Path

import pytest

from app.agents.candidate_trees import DirectoryTrees

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "a workspace"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref")
    (root / "src").mkdir()
    (root / "src/a.py").write_text("one")
    (root / "b.py").write_text("two")
    (root / "link").symlink_to("b.py")
    return root


async def test_copies_are_separate_and_go_away(workspace: Path) -> None:
    async with DirectoryTrees().open(workspace, 2) as (one, two):
        (one / "b.py").write_text("changed")
        assert (two / "b.py").read_text() == "two"
        assert (two / "link").is_symlink()
        assert not (one / ".git").exists()
    assert not one.exists()
    assert (workspace / "b.py").read_text() == "two"


async def test_says_what_a_copy_changed(workspace: Path) -> None:
    trees = DirectoryTrees()
    async with trees.open(workspace, 1) as (copy,):
        assert await trees.changed_files(copy, workspace) == []
        (copy / "b.py").write_text("TWO")
        (copy / "new.py").write_text("")
        (copy / "src/a.py").unlink()
        (copy / "__pycache__").mkdir()
        (copy / "__pycache__/x.pyc").touch()
        assert await trees.changed_files(copy, workspace) == ["b.py", "link", "new.py", "src/a.py"]


async def test_a_chosen_copy_replaces_everything_but_version_control(workspace: Path) -> None:
    trees = DirectoryTrees()
    async with trees.open(workspace, 1) as (copy,):
        (copy / "b.py").unlink()
        (copy / "link").unlink()
        (copy / "src/a.py").write_text("ONE")
        (copy / "new").mkdir()
        (copy / "new/c.py").write_text("three")
        await trees.adopt(copy, workspace)
    assert sorted(os.listdir(workspace)) == [".git", "new", "src"]
    assert os.listdir(workspace / ".git") == ["HEAD"]
    assert os.listdir(workspace / "new") == ["c.py"]
    assert (workspace / "src/a.py").read_text() == "ONE"
