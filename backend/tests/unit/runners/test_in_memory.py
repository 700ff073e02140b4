"""What identifies a working tree, and what the records in memory say."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.runners.facts import AttemptFacts
from app.runners.in_memory import MemoryRecords, text_identity, tree_identity
from app.schemas.runs import AttemptState, RunPolicy, Usage


def make(root: Path) -> Path:
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1")
    (root / "b.py").write_text("b = 2")
    (root / "link").symlink_to("b.py")
    return root


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda root: (root / "b.py").write_text("b = 3"),
    "name": lambda root: (root / "b.py").rename(root / "c.py"),
    "a file moved": lambda root: (root / "src" / "a.py").rename(root / "a.py"),
    "a new file": lambda root: (root / "new.py").write_text(""),
    "a file gone": lambda root: (root / "b.py").unlink(),
    "executable": lambda root: (root / "b.py").chmod(0o755),
    "where a link points": lambda root: ((root / "link").unlink(), (root / "link").symlink_to("src")),
    "a link became a file": lambda root: ((root / "link").unlink(), (root / "link").write_text("b.py")),
    "a file whose name is no text": lambda root: (root / os.fsdecode(b"\xff")).write_text(""),
    "a pipe": lambda root: os.mkfifo(root / "pipe"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_tree_is_another(change: Callable[[Path], object], tmp_path: Path) -> None:
    before = tree_identity(make(tmp_path / "tree"))
    change(tmp_path / "tree")
    assert tree_identity(tmp_path / "tree") != before


SAME: dict[str, Callable[[Path], object]] = {
    "times": lambda root: os.utime(root / "b.py", (1, 1)),
    "git's directory": lambda root: (root / ".git").mkdir() or (root / ".git" / "HEAD").write_text("x"),
    "caches": lambda root: (root / "__pycache__").mkdir() or (root / "__pycache__" / "a.txt").write_text("x"),
    "compiled code": lambda root: (root / "a.pyc").write_text("x"),
    "an empty directory": lambda root: (root / "empty").mkdir(),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME.keys())
def test_what_no_commit_stores_does_not_count(change: Callable[[Path], object], tmp_path: Path) -> None:
    before = tree_identity(make(tmp_path / "tree"))
    change(tmp_path / "tree")
    assert tree_identity(tmp_path / "tree") == before


def test_equal_trees_at_different_places_are_the_same(tmp_path: Path) -> None:
    assert tree_identity(make(tmp_path / "one")) == tree_identity(make(tmp_path / "two"))


def test_a_tree_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tree_identity(tmp_path / "nowhere")


def test_texts() -> None:
    assert text_identity("tea") == text_identity("tea")
    assert text_identity("tea") != text_identity("tea ")
    assert text_identity("\ud800")


@pytest.mark.anyio
async def test_the_history_has_what_was_recorded() -> None:
    records = MemoryRecords("coding", RunPolicy())
    for number in (2, 1):
        records.attempts[number] = AttemptFacts(number, AttemptState.FAILED, fingerprint="f", tree="t")
    records.usage = Usage(input_tokens=3, output_tokens=4, cost_usd=0.5)
    history, policy = await records.load()
    assert [each.number for each in history.attempts] == [1, 2]
    assert (history.spent.tokens, history.spent.cost_usd) == (7, 0.5)
    assert (history.phases, history.phase, policy) == (("coding",), "coding", RunPolicy())
