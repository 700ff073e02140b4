"""An earlier report is removed from a copy, and nothing behind a link that leads out of it."""

import pytest

from app.runners.evaluators.commands.taking import NoVerdictError, clear
from tests.unit.runners.evaluators.conftest import Tree


@pytest.mark.parametrize("report", ["target/*.xml", "*/*.xml", "target/surefire-reports/*.xml"])
def test_reports_behind_a_link_stay(tree: Tree, report: str) -> None:
    files = {"mine.xml": "", "surefire-reports/mine.xml": ""}
    outside, copy = tree(files), tree({"own/old.xml": ""})
    (copy / "target").symlink_to(outside)
    clear(copy, report)
    assert (outside / "mine.xml").exists()
    assert (outside / "surefire-reports/mine.xml").exists()


def test_earlier_reports_are_removed(tree: Tree) -> None:
    copy = tree({"real/old.xml": "", "real/other.txt": "", "out/report.xml": ""})
    (copy / "target").symlink_to("real")
    (copy / "real" / "link.xml").symlink_to("/etc/passwd")
    clear(copy, "target/*.xml")
    assert [each.name for each in (copy / "real").iterdir()] == ["other.txt"]
    clear(copy, "out/report.xml")
    clear(copy, "new/place/report.xml")
    assert list((copy / "out").iterdir()) == list((copy / "new/place").iterdir()) == []


@pytest.mark.parametrize("target", ["{outside}", "{outside}/not/there", "..", "loop"])
def test_no_directory_is_created_behind_a_link(tree: Tree, target: str) -> None:
    outside, copy = tree({"kept": ""}), tree({"a": ""})
    (copy / "loop").symlink_to("loop")
    (copy / "out").symlink_to(target.format(outside=outside))
    before = sorted(copy.parent.rglob("*"))
    with pytest.raises(NoVerdictError):
        clear(copy, "out/below/report.xml")
    assert sorted(copy.parent.rglob("*")) == before
