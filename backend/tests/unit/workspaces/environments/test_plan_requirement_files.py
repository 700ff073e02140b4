"""Which requirement files count for a tree, and what they bring."""

from pathlib import Path

import pytest

from app.workspaces.environments.plan import ROOTS, plan_for
from app.workspaces.environments.reading import DeclarationError
from tests.unit.workspaces.environments.plan_support import roots, write


def test_sources_of_compiled_requirement_files_count_without_these(tmp_path: Path) -> None:
    files = {"requirements/tests.in": "alpha\n", "requirements/docs.in": "sphinx\n"}
    assert "alpha" in plan_for(write(tmp_path, files)).files["requirements/tests.in"]
    write(tmp_path, {"requirements/tests.txt": "alpha==1.5\n"})
    assert [name for name in plan_for(tmp_path).files if "tests" in name] == ["requirements/tests.txt"]


@pytest.mark.parametrize(
    "line", ["-r{toxinidir}/tests/needs.txt", "-r tests/needs.txt", "-rtests{/}needs.txt"]
)
def test_requirement_files_that_tox_names_are_taken(tmp_path: Path, line: str) -> None:
    files = {"tox.ini": f"[testenv]\ndeps =\n  alpha\n  {line}\n  -rgone.txt\n", "tests/needs.txt": "beta\n"}
    plan = plan_for(write(tmp_path, files))
    assert plan.files["tests/needs.txt"] == "beta\n"
    assert "tests/needs.txt" in plan.install
    assert "gone.txt" not in plan.files


def test_requirement_files_are_taken_with_what_they_include_and_without_the_project_itself(
    tmp_path: Path,
) -> None:
    tree = write(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "demo"\n[project.optional-dependencies]\ncli = ["click"]\n',
            "requirements.txt": "--prefer-binary\nalpha==1 \\\n  --hash=sha256:aa\n",
            "requirements/tests.txt": "-r common.txt\n-c bounds.txt\n-e .[cli]\nbeta # why\n./vendored\n",
            "requirements/common.txt": "gamma\n",
            "requirements/bounds.txt": "gamma<3\n",
            "requirements/docs.txt": "sphinx\n",
            "requirements-dev.txt": "ruff\n",
        },
    )
    plan = plan_for(tree)
    assert plan.files["requirements.txt"] == "alpha==1    --hash=sha256:aa\n"
    assert plan.files["requirements/tests.txt"] == "-r common.txt\n-c bounds.txt\nbeta\n"
    assert set(plan.install) == {ROOTS, "requirements.txt", "requirements/tests.txt"}
    assert roots(tree) == ["click"]


@pytest.mark.parametrize(
    ("development", "taken"),
    [
        pytest.param("mock\nPyTest==8.3\nnumpy\n", True, id="they bring pytest"),
        pytest.param("sphinx\n", False, id="they bring no pytest"),
    ],
)
def test_files_for_development_are_taken_beside_tests_that_bring_no_pytest(
    tmp_path: Path, development: str, *, taken: bool
) -> None:
    setup = "from setuptools import setup\nsetup(name='demo', tests_require=['mock'])\n"
    plan = plan_for(write(tmp_path, {"setup.py": setup, "requirements-dev.txt": development}))
    assert ("requirements-dev.txt" in plan.install) is taken
    assert "mock" in plan.files[ROOTS]


def test_beside_complete_tests_only_the_plug_ins_of_development_files_are_taken(tmp_path: Path) -> None:
    setup = "from setuptools import setup\nsetup(name='demo', tests_require=['pytest', 'pytest-cov'])\n"
    development = "-e .\nflake8==4.0.1\npytest==6.2.5\npytest-aiohttp==0.3.0  # fixtures\npytest_cov==3.0.0\n"
    plan = plan_for(write(tmp_path, {"setup.py": setup, "requirements-dev.txt": development}))
    assert "requirements-dev.txt" not in plan.install
    named = plan.files[ROOTS].splitlines()
    assert [each for each in named if each.startswith("pytest")][:3] == [
        "pytest",
        "pytest-cov",
        "pytest-aiohttp==0.3.0",
    ]
    assert "flake8" not in plan.files[ROOTS]


@pytest.mark.parametrize("outside", ["-r ../secret.txt", "-r /etc/hostname", "-r link.txt", "-r gone.txt"])
def test_a_requirement_file_cannot_include_what_lies_outside_the_tree(tmp_path: Path, outside: str) -> None:
    (tmp_path / "secret.txt").write_text("password\n")
    tree = write(tmp_path / "tree", {"requirements.txt": f"{outside}\n"})
    (tree / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DeclarationError, match="not in the tree"):
        plan_for(tree)


def test_files_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "requirements.txt": "-r test-requirements.txt\n",
            "test-requirements.txt": "-r requirements.txt\nalpha\n",
        },
    )
    assert set(plan_for(tree).install) == {ROOTS, "requirements.txt", "test-requirements.txt"}


def test_variants_of_a_requirement_file_are_left_where_there_is_a_plain_one(tmp_path: Path) -> None:
    places = ("tests.txt", "tests-min.txt", "tests-dev.txt")
    (tmp_path / "requirements").mkdir()
    for name in places:
        (tmp_path / "requirements" / name).write_text("alpha\n")
    assert plan_for(tmp_path).install == (ROOTS, "requirements/tests.txt")
    (tmp_path / "requirements/tests.txt").unlink()
    assert set(plan_for(tmp_path).install) == {
        ROOTS,
        "requirements/tests-min.txt",
        "requirements/tests-dev.txt",
    }
