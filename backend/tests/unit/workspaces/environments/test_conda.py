"""What conda environments list, of the files that commands name."""

from pathlib import Path

import pytest

from app.workspaces.environments.conda import conda_words
from app.workspaces.environments.plan import ROOTS, plan_for

LATEST = """name: test
channels:
  - conda-forge
dependencies:
  - python=3.12
  # for tests
  - mercantile
  - conda-forge::requests >=2.0,<3
  - numpy=1.26
  - "pytest<9"  # and more
  - pip:
      - xyz-services==1.0
      - git+https://example.invalid/x.git
variables:
  - OTHER
"""


@pytest.mark.parametrize(
    "command", ["environment-file: ci/latest.yaml", "conda env create -f ./ci/latest.yaml"]
)
def test_packages_of_the_files_that_commands_name(tmp_path: Path, command: str) -> None:
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci/latest.yaml").write_text(LATEST)
    found = ["mercantile", "requests>=2.0,<3", "numpy", "pytest<9", "xyz-services==1.0"]
    assert conda_words(tmp_path, [command]) == found


@pytest.mark.parametrize(
    "text",
    [
        "dependencies:\n",
        "",
        "dependencies: x\n",
        "a:\n  - b\n",
        "dependencies:\n" + "- a-\n" * 3 + "- =1\n- []\n",
    ],
)
def test_files_that_list_no_package(tmp_path: Path, text: str) -> None:
    (tmp_path / "environment.yml").write_text(text)
    assert [each for each in conda_words(tmp_path, []) if each != "a-"] == []


def test_files_outside_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "latest.yaml").write_text(LATEST)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "linked.yaml").symlink_to(tmp_path / "latest.yaml")
    assert conda_words(tree, ["-f ../latest.yaml -f ./linked.yaml -f x/../../latest.yaml"]) == []


def test_what_tests_import_joins_the_plan(tmp_path: Path) -> None:
    for name, text in {
        ".github/workflows/ci.yml": "environment-file: [ci/latest.yaml]\nrun: pytest\n",
        "ci/latest.yaml": LATEST,
        "tests/test_it.py": "import mercantile\nimport pytest\n",
        "pyproject.toml": '[project]\nname = "demo"\nversion = "1"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert plan_for(tmp_path).files[ROOTS].splitlines() == ["mercantile", "pytest<9", "pytest>=7.4"]
