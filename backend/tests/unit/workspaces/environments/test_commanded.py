"""The extras and files with which a project's own commands install it."""

from pathlib import Path

import pytest

from app.workspaces.environments.commanded import RUNS_TESTS, command_texts, commanded_extras
from app.workspaces.environments.commanded_words import commanded_words
from app.workspaces.environments.plan import ROOTS, plan_for

EXTRAS = {"yaml": ["PyYAML"], "web": ["starlette"], "docs": ["sphinx"], "learn": ["torch", "numpy"]}
WORKFLOW = ".github/workflows/checks.yml"


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        pytest.param("tox.ini", "commands = poetry install --all-extras\n", ["yaml", "web"], id="all"),
        pytest.param(WORKFLOW, "run: pip install -e '.[web, docs]'\nrun: pytest\n", ["web"], id="by name"),
        pytest.param(WORKFLOW, "run: pip install '.[web]'\nrun: sphinx-build\n", [], id="not for tests"),
        pytest.param(WORKFLOW, "run: uv sync --extra yaml && pytest\n", ["yaml"], id="uv"),
        pytest.param(
            "Makefile", 'poetry install --extras "yaml web"\npytest\n', ["yaml", "web"], id="poetry"
        ),
        pytest.param("noxfile.py", "session.install('-e', '.[Web]')  # pytest\n", ["web"], id="nox"),
        pytest.param("pyproject.toml", "[tool.hatch.envs.test]\nfeatures = ['web']\n", ["web"], id="hatch"),
        pytest.param("pyproject.toml", "[tool.hatch.envs.more]\nfeatures = ['web']\n", [], id="another"),
        pytest.param("Makefile", "pip install other[yaml]; pytest\n", [], id="of another package"),
        pytest.param("Makefile", "pip install .[learn]; pytest\n", [], id="gigabytes"),
    ],
)
def test_extras_that_commands_install(tmp_path: Path, file: str, text: str, found: list[str]) -> None:
    place = tmp_path / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text if file != "tox.ini" else f"[testenv]\n{text}")
    assert commanded_extras(tmp_path, EXTRAS) == found


@pytest.mark.parametrize(
    ("file", "command"),
    [("scripts/test", "scripts/test"), ("scripts/ci.sh", "bash ./scripts/ci.sh"), ("ci.sh", "sh ci.sh")],
)
def test_commands_in_scripts(tmp_path: Path, file: str, command: str) -> None:
    workflow, script = tmp_path / WORKFLOW, tmp_path / file
    for place in (workflow, script):
        place.parent.mkdir(parents=True, exist_ok=True)
    workflow.write_text(f"run: uv sync --extra web\nrun: {command}\n")
    script.write_text("#!/bin/sh\nuv sync --extra yaml\nuv run pytest\n")
    assert commanded_extras(tmp_path, EXTRAS) == ["yaml", "web"]


def test_scripts_that_are_not_in_the_tree(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("bash scripts/../../outside.sh scripts/missing.sh; pytest\n")
    (tmp_path.parent / "outside.sh").write_text("uv sync --extra web\n")
    assert commanded_extras(tmp_path, EXTRAS) == []


def test_a_file_with_commands_that_is_no_text_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_bytes(b"\xff pytest --all-extras")
    assert commanded_extras(tmp_path, EXTRAS) == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        pytest.param("pip install -r needs/extras/postgres.txt; true", ["asyncpg>=0.30"], id="with pip"),
        pytest.param(
            "uv pip install -e . --requirement=./needs/extras/postgres.txt", ["asyncpg>=0.30"], id="with uv"
        ),
        pytest.param(
            "pip install -rneeds/docs/all.txt -r needs/extras/postgres.txt", ["asyncpg>=0.30"], id="several"
        ),
        pytest.param("pip install -r needs/docs/all.txt", [], id="for documentation"),
        pytest.param("pip install -r needs/extras_dev.txt", ["asyncpg>=0.30"], id="for development"),
        pytest.param("pip install -r needs/test_async.txt", ["pytest-asyncio<2"], id="a plug-in of pytest"),
        pytest.param("pip install -r ../postgres.txt", [], id="outside"),
        pytest.param("pip install -r needs/missing.txt", [], id="missing"),
        pytest.param("cat needs/extras/postgres.txt", [], id="not installed"),
    ],
)
def test_packages_of_files_that_workflows_install(tmp_path: Path, command: str, found: list[str]) -> None:
    text = "-r other.txt\nasyncpg>=0.30  # fast\nuvloop\npytest==6.2.5\n"
    imports = "import asyncpg\nimport pytest\n\n\ndef test_it(): ...\n"
    files = {
        WORKFLOW: f"run: {command}\nrun: pytest\n",
        "needs/extras/postgres.txt": text,
        "needs/docs/all.txt": text,
        "needs/extras_dev.txt": text,
        "needs/test_async.txt": "pytest-asyncio<2;\naiohttp\n",
        "tests/test_it.py": imports,
        "requirements/requirements.txt": "attrs\n",
        "requirements/test-requirements.txt": "pytest==7.4.0\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    plan = plan_for(tmp_path)
    assert plan.files[ROOTS].splitlines() == [*found, "pytest>=7.4"]
    assert set(plan.install) == {
        *(ROOTS, "requirements/requirements.txt", "requirements/test-requirements.txt")
    }


def test_they_join_the_plan_and_go_first(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'demo'\nversion = '1'\ndependencies = ['attrs']\n"
        "[project.optional-dependencies]\nyaml = ['PyYAML', 'attrs>=20']\ntests = ['pytest']\n"
    )
    (tmp_path / "tox.ini").write_text("[testenv]\ncommands = pip install .[yaml]\n    pytest\n")
    plan = plan_for(tmp_path)
    assert "PyYAML" in plan.files[ROOTS]
    assert plan.optional == {"pyyaml"}


def test_what_documentation_asks_for_goes_first_unless_the_project_needs_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'demo'\nversion = '1'\ndependencies = ['attrs']\n"
        "[project.optional-dependencies]\ndoc-rtd = ['sphinx<6', 'attrs']\n"
        "test = ['pytest', 'docutils>=0.22']\ndev = ['demo[doc-rtd,test]']\n"
    )
    plan = plan_for(tmp_path)
    assert "docutils>=0.22" in plan.files[ROOTS]
    assert plan.optional == {"sphinx"}


MATRIX = """
jobs:
  test:
    strategy:
      matrix:
        include:
          - python: "3.10"
            django: "Django>=3.2,<3.3"
            taggit: "django-taggit>=2.1.0"
          - python: "3.12"
            django: "Django>=4.2,<4.3"
            taggit: "django-taggit>=2.1.0"
    steps:
      - run: |
          pip install -e .
          pip install "${{ matrix.taggit }}"
          python runtests.py
"""


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        pytest.param(WORKFLOW, MATRIX, ["django", "django-taggit>=2.1.0"], id="matrix"),
        pytest.param(
            WORKFLOW,
            "run: pip install -U 'web>=2' -r more.txt -e . taggit[all]==1.0 && pytest\n",
            ["web>=2", "taggit[all]==1.0"],
            id="by name",
        ),
        pytest.param(WORKFLOW, "run: pip install web; mkdocs build\n", [], id="not for tests"),
        pytest.param(
            "tox.ini",
            "[testenv]\ndeps =\n  dj32: Django>=3.2,<3.3\n  dj{42,50}: Django>=4.2\n  other\n  web: taggit\n",
            ["django", "taggit"],
            id="some of tox's environments",
        ),
        pytest.param(
            "noxfile.py",
            "@session\ndef unit(session):\n  session.install('pytz', 'pytest')\n  session.run('pytest')\n",
            ["pytz", "pytest"],
            id="nox",
        ),
    ],
)
def test_requirements_that_only_commands_name(tmp_path: Path, file: str, text: str, found: list[str]) -> None:
    place = tmp_path / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    texts = [each for each in command_texts(tmp_path) if RUNS_TESTS.search(each)]
    assert commanded_words(tmp_path, texts) == found


def test_what_tests_import_and_only_commands_install_is_installed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/models.py").write_text("from taggit.managers import TaggableManager\nimport yaml\n")
    place = tmp_path / WORKFLOW
    place.parent.mkdir(parents=True)
    place.write_text(f"{MATRIX}          pip install PyYAML unused\n")
    assert plan_for(tmp_path).files[ROOTS].split() == ["PyYAML", "django-taggit>=2.1.0", "pytest>=7.4"]


def test_packages_of_gigabytes_are_not_installed_by_name(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_learn.py").write_text("import torch\nimport yaml\n")
    (tmp_path / "Makefile").write_text("test:\n\tpip install torch pyyaml\n\tpytest\n")
    assert plan_for(tmp_path).files[ROOTS].split() == ["pyyaml", "pytest>=7.4"]


def test_options_of_pip_are_no_packages(tmp_path: Path) -> None:
    command = "pip install -i https://one.example/ --find-links https://two.example/ web; pytest\n"
    assert commanded_words(tmp_path, [command]) == ["web"]


def test_a_plug_in_of_pytest_needs_its_metadata(tmp_path: Path) -> None:
    project = '[project]\nname = "again"\nversion = "1"\ndependencies = ["pytest"]\n'
    (tmp_path / "pyproject.toml").write_text(project)
    assert not plan_for(tmp_path).needed
    (tmp_path / "pyproject.toml").write_text(f'{project}[project.entry-points.pytest11]\nagain = "again"\n')
    assert plan_for(tmp_path).needed
