"""The extras and files with which a project's own commands install it."""

from pathlib import Path

import pytest

from app.workspaces.environments.commanded import commanded_extras
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
