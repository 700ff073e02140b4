"""A Pipfile counts where the project files name no packages."""

from pathlib import Path

from app.workspaces.environments.groups import wanted
from app.workspaces.environments.plan import ROOTS, plan_for

PIPFILE = """
[[source]]
name = "pypi"
url = "https://pypi.example/simple"

[packages]
requests = ">=2.32.0"
tool = "*"
web = {version = "~=2.0", extras = ["all"], markers = "python_version >= '3.9'"}
own = {path = ".", editable = true}

[dev-packages]
pytest = "*"
mock = "==5.1.0"

[requires]
python_version = "3.11"
"""


def test_an_application_with_a_pipfile_alone(tmp_path: Path) -> None:
    (tmp_path / "Pipfile").write_text(PIPFILE)
    plan = plan_for(tmp_path)
    lines = plan.files[ROOTS].splitlines()
    assert lines[:2] == ["requests>=2.32.0", "tool"]
    assert lines[2].startswith("web[all]~=2.0 ;")
    assert lines[3:] == ["pytest", "mock==5.1.0", "pytest>=7.4"]
    assert (plan.needed, plan.read_from) == (True, ("Pipfile",))


def test_the_project_files_come_first(tmp_path: Path) -> None:
    (tmp_path / "Pipfile").write_text(PIPFILE)
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["other"]\n'
    )
    found = wanted(tmp_path)
    assert (found.requirements, found.groups["dev"]) == (["other"], ["pytest", "mock==5.1.0"])
    (tmp_path / "pyproject.toml").write_text('[dependency-groups]\ntest = ["nose2"]\n')
    found = wanted(tmp_path)
    assert (found.requirements[0], found.groups["test"], found.groups.get("dev")) == (
        "requests>=2.32.0",
        ["nose2"],
        [],
    )


def test_what_tests_import_is_installed_although_the_project_names_its_own(tmp_path: Path) -> None:
    (tmp_path / "Pipfile").write_text(PIPFILE.replace("requests", "moto"))
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "a"\nversion = "1"\ndependencies = ["other"]\n'
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("import moto\nimport pytest\n")
    lines = plan_for(tmp_path).files[ROOTS].splitlines()
    assert "moto>=2.32.0" in lines
    assert "tool" not in lines
