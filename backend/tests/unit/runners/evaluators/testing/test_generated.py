"""Version files that the build writes are there when tests run, even if the change is the first with one."""

from importlib.metadata import distributions
from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.generated import write_generated
from tests.unit.runners.evaluators.testing.gate_support import run

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


PLUGINS = '[project.entry-points."demo.parts"]\nsecond = "demo.second:Part"\n'


def test_entry_points_of_the_candidate_are_found(tmp_path: Path) -> None:
    plug = '[project.entry-points.pytest11]\nevil = "demo.evil"\n'
    base, copy = trees(tmp_path, f"{BASE}{PLUGINS}{plug}")
    write_generated(base, copy)
    (found,) = distributions(path=[str(copy)])
    assert (found.metadata["Name"], found.version) == ("demo", "4.2")
    assert [(each.group, each.name, each.value) for each in found.entry_points] == [
        ("demo.parts", "second", "demo.second:Part")
    ], "plug-ins of pytest are those of the base"


@pytest.mark.parametrize("is_link", [True, False])
def test_metadata_is_not_written_over_what_is_there(tmp_path: Path, is_link: bool) -> None:
    base, copy = trees(tmp_path, f"{BASE}{PLUGINS}")
    place = copy / "demo-4.2.dist-info"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.symlink_to(elsewhere) if is_link else place.mkdir()
    write_generated(base, copy)
    assert [*elsewhere.iterdir(), *place.iterdir()] == []


def test_the_same_entry_points_need_no_metadata(tmp_path: Path) -> None:
    base, copy = trees(tmp_path, f'{BASE}description = "A demo"\n')
    before = {*copy.rglob("*")}
    write_generated(base, copy)
    assert {*copy.rglob("*")} == before


@pytest.mark.anyio
async def test_the_tests_of_a_new_entry_point_pass(context) -> None:
    code = (
        "from importlib.metadata import entry_points\n\n\n"
        "def names():\n    return sorted(each.name for each in entry_points(group='demo.parts'))\n"
    )
    tests = "from demo import names\n\n\ndef test_names():\n    assert {}\n"
    before = {
        "pyproject.toml": BASE,
        "demo.py": code,
        "tests/test_demo.py": tests.format("'first' not in names()"),
    }
    after = {
        **before,
        "pyproject.toml": f"{BASE}{PLUGINS}",
        "tests/test_more.py": tests.format("names() == ['second']"),
    }
    result = await run(context, after, before)
    assert result.status == "passed", result.feedback
