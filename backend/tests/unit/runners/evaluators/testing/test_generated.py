"""Version files that the build writes are there when tests run, even if the change is the first with one."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.generated import write_generated

BASE = '[project]\nname = "demo"\nversion = "4.2"\n'
SCM = f"{BASE}[tool.setuptools_scm]\n"


def trees(place: Path, candidate: str) -> tuple[Path, Path]:
    for name, text in (("base", BASE), ("copy", candidate)):
        (place / name / "demo").mkdir(parents=True)
        (place / name / "pyproject.toml").write_text(text)
    return place / "base", place / "copy"


@pytest.mark.parametrize(
    ("setting", "written"),
    [
        pytest.param('version_file = "demo/_version.py"', ["demo/_version.py"], id="a version file"),
        pytest.param('version_file = "conftest.py"', [], id="part of the test setting"),
        pytest.param('version_file = "../version.py"', [], id="outside"),
        pytest.param('version_file = "other/version.py"', [], id="a directory that is not there"),
        pytest.param(
            'version_file = "demo/_version.py"\nversion_file_template = "import os"',
            [],
            id="the candidate writes the content",
        ),
        pytest.param("version_file = [", [], id="no TOML"),
    ],
)
def test_a_candidate_may_be_the_first_to_have_one(setting: str, written: list[str], tmp_path: Path) -> None:
    base, copy = trees(tmp_path, f"{SCM}{setting}\n")
    before = {*copy.rglob("*")}
    write_generated(base, copy)
    assert [str(each.relative_to(copy)) for each in {*copy.rglob("*")} - before] == written
    if written:
        assert "__version_tuple__ = version_tuple = (4, 2)" in (copy / written[0]).read_text()


def test_a_file_of_the_candidate_stays(tmp_path: Path) -> None:
    base, copy = trees(tmp_path, f'{SCM}version_file = "demo/_version.py"\n')
    (copy / "demo/_version.py").write_text("mine = 1\n")
    write_generated(base, copy)
    assert (copy / "demo/_version.py").read_text() == "mine = 1\n"
