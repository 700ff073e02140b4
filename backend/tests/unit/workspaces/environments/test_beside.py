"""A repository of many projects: their requirements are installed, and their code is the tree's."""

from pathlib import Path

import pytest

from app.runners.evaluators.source_places import source_places
from app.workspaces.environments.beside import projects_beside
from app.workspaces.environments.plan import ROOTS, plan_for
from tests.unit.workspaces.environments.making import write

ONE = 'from setuptools import setup\nsetup(name="one", version="3", install_requires=["attrs>=20"])\n'
TWO = (
    '[project]\nname = "two"\nversion = "4"\nrequires-python = ">=3.9"\ndependencies = ["one>=3", "idna"]\n'
    '[project.optional-dependencies]\ntest = ["pytest", "pytest-mock"]\ndocs = ["sphinx"]\n'
    '[project.entry-points."one.plugins"]\ntwo = "two:Plugin"\n'
)
MANY = {"pytest.ini": "[pytest]\n", "one/setup.py": ONE, "packages/two/pyproject.toml": TWO}


def roots_of(tree: Path) -> set[str]:
    return set(plan_for(tree).files[ROOTS].split())


def places_in(tree: Path) -> list[str]:
    return [each.relative_to(tree).as_posix() for each in projects_beside(tree)]


def test_projects_below_a_root_that_is_none_are_installed(tmp_path: Path) -> None:
    tree = write(tmp_path, MANY)
    assert places_in(tree) == ["one", "packages/two"]
    plan = plan_for(tree)
    assert roots_of(tree) == {"attrs>=20", "idna", "pytest", "pytest-mock", "pytest>=7.4"}
    assert {name: each.version for name, each in plan.members.items()} == {"one": "3", "packages/two": "4"}
    assert plan.members["packages/two"].entry_points == {"one.plugins": {"two": "two:Plugin"}}
    assert plan.requires_python == ">=3.9"
    assert plan.needed


def test_their_modules_are_imported(tmp_path: Path) -> None:
    tree = write(tmp_path, {**MANY, "packages/two/src/two.py": "", "one/one.py": ""})
    assert source_places(tree) == ("one", "packages/two/src")


@pytest.mark.parametrize(
    "root",
    [
        {"pyproject.toml": '[project]\nname = "root"\nversion = "1"\n'},
        {"setup.py": 'from setuptools import setup\nsetup(name="root")\n'},
        {"setup.cfg": "[options]\ninstall_requires = idna\n"},
        {"pyproject.toml": "[project\n"},
    ],
)
def test_a_root_that_is_a_project_has_only_what_is_named(root: dict[str, str], tmp_path: Path) -> None:
    tree = write(tmp_path, {**MANY, **root})
    if root.get("pyproject.toml") != "[project\n":
        assert places_in(tree) == []
    assert source_places(tree) == ()


@pytest.mark.parametrize("line", ["-e one[test]", "-e ./one", "./one", "-e {toxinidir}/one"])
def test_tox_names_the_projects(line: str, tmp_path: Path) -> None:
    tree = write(tmp_path, {**MANY, "tox.ini": f"[testenv]\ndeps =\n    {line}\n    six\n"})
    assert places_in(tree) == ["one"]
    assert {"attrs>=20", "six"} <= roots_of(tree)


def test_a_project_that_shows_or_tests_something_is_none_of_the_product(tmp_path: Path) -> None:
    others = ("docs", "examples/first", "tests", ".hidden", "_private", "node_modules/x", "a/b/c")
    tree = write(tmp_path, {**MANY, **{f"{each}/setup.py": ONE for each in others}})
    (tree / "linked").symlink_to("one")
    assert places_in(tree) == ["one", "packages/two"]


def test_a_project_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    tree = write(tmp_path, {**MANY, "broken/pyproject.toml": "[project\n", "odd/setup.py": "setup(name='o'"})
    assert list(plan_for(tree).members) == ["one", "packages/two"]


def test_requirements_of_many_projects_are_stated_once(tmp_path: Path) -> None:
    tree = write(tmp_path, {f"p{number}/setup.py": ONE.replace("one", f"p{number}") for number in range(5)})
    assert plan_for(tree).files[ROOTS].split() == ["attrs>=20", "pytest>=7.4"]
