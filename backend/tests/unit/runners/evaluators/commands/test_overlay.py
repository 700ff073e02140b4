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
