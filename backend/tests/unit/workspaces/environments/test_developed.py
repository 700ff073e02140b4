"""Optional features whose packages developers install, while the files for tests do not name them."""

from pathlib import Path

import pytest

from app.workspaces.environments.plan import ROOTS, plan_for

PROJECT = """
[project]
name = "demo"
version = "1"
[project.optional-dependencies]
env = ["python-dotenv>=1"]
learn = ["torch"]
all = ["python-dotenv", "orjson"]
lint = ["flake8"]
"""


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "requirements-test.txt").write_text("pytest\n")
    return tmp_path


def test_features_that_a_file_for_development_names(tree: Path) -> None:
    (tree / "requirements-dev.txt").write_text("python-dotenv\ntorch\nflake8\norjson\ntwine\n")
    plan = plan_for(tree)
    assert plan.files[ROOTS].splitlines() == ["python-dotenv>=1", "pytest>=7.4"]
    assert plan.optional == {"python-dotenv"}


def test_features_that_a_group_for_development_names(tree: Path) -> None:
    with (tree / "pyproject.toml").open("a") as file:
        file.write('[dependency-groups]\ndev = ["python-dotenv", "twine"]\ntest = ["pytest"]\n')
    assert plan_for(tree).files[ROOTS].splitlines() == ["pytest", "python-dotenv>=1", "pytest>=7.4"]


def test_features_that_only_users_install(tree: Path) -> None:
    (tree / "requirements-dev.txt").write_text("twine\n")
    assert plan_for(tree).files[ROOTS].splitlines() == ["pytest>=7.4"]
