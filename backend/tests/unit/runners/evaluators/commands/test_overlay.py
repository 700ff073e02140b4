"""Files of the base laid over a candidate's copy."""

from pathlib import Path

from app.runners.evaluators.commands.overlay import Overlay
from tests.unit.runners.evaluators.conftest import Tree


def test_nothing_is_written_through_a_link_of_the_candidate(tree: Tree, tmp_path: Path) -> None:
    base, copy, outside = tree({"tests/a.txt": "base"}), tree({"b.txt": ""}), tmp_path / "outside"
    outside.mkdir()
    (copy / "tests").symlink_to(outside)
    Overlay(changed=("tests/a.txt",)).apply(copy, base)
    assert (copy / "tests/a.txt").read_text() == "base"
    assert list(outside.iterdir()) == []


def test_no_text_is_written_through_a_link_of_the_candidate(tree: Tree) -> None:
    copy, outside = tree({"src/core.rs": "core", "run.sh": "old"}), tree({"mod.rs": "outside"})
    (copy / "src/lib.rs").symlink_to("core.rs")
    (copy / "below").symlink_to(outside)
    (copy / "run.sh").chmod(0o755)
    texts = dict.fromkeys(("src/lib.rs", "below/mod.rs", "run.sh"), b"base")
    Overlay(texts=texts).apply(copy, tree({}))
    assert (copy / "src/core.rs").read_text() == "core"
    assert (outside / "mod.rs").read_text() == "outside"
    assert [(copy / name).read_text() for name in texts] == ["base"] * 3
    assert (copy / "run.sh").stat().st_mode & 0o100, "a file keeps its mode"
