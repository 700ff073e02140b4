"""Whatever an agent left is deleted: no link is followed, and neither number, depth nor modes hold it up."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.workspaces.files.removal import remove_tree

pytestmark = pytest.mark.anyio


def usual(tree: Path) -> None:
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "a.py").write_text("x = 1\n")
    (tree / "away").symlink_to(tree.parent / "outside")
    (tree / "src" / "gone").symlink_to("nowhere")


def many(tree: Path) -> None:
    usual(tree)
    for number in range(2_100):
        (tree / f"{number}.txt").touch()


def deep(tree: Path) -> None:
    usual(tree)
    (tree / "/".join(["d"] * 200)).mkdir(parents=True)


def closed(tree: Path) -> None:
    usual(tree)
    (tree / "src").chmod(0)
    tree.chmod(0o500)


def a_link(tree: Path) -> None:
    tree.symlink_to(tree.parent / "outside")


def a_file(tree: Path) -> None:
    tree.touch()


def nothing(_: Path) -> None:
    """Is there."""


@pytest.mark.parametrize("make", [usual, many, deep, closed, a_link, a_file, nothing])
async def test_it_is_gone_and_nothing_else(tmp_path: Path, make: Callable[[Path], None]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    tree = tmp_path / "a tree"
    make(tree)
    await remove_tree(tree)
    assert os.listdir(tmp_path) == ["outside"]
    assert os.listdir(outside) == ["kept"]
