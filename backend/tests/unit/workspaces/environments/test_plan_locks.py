"""What lock files decide about the packages that are installed for a tree."""

from pathlib import Path

import pytest

from app.workspaces.environments.plan import CONSTRAINTS, LOCKED, ROOTS, TEST_RUNNER, plan_for
from tests.unit.workspaces.environments.plan_support import GROUPS, POETRY, write

POETRY_LOCK = """
[[package]]
name = "alpha"
version = "1.4.1"
[[package]]
name = "both"
version = "1"
[[package]]
name = "both"
version = "2"
"""


def test_poetry_lock_bounds_versions_but_not_those_that_it_has_several_of(tmp_path: Path) -> None:
    plan = plan_for(write(tmp_path, {"pyproject.toml": POETRY, "poetry.lock": POETRY_LOCK}))
    assert plan.files[CONSTRAINTS] == "alpha==1.4.1\n"
    assert plan.constraints == (CONSTRAINTS,)


def test_what_tests_import_of_an_extra_or_of_the_lock_is_installed(tmp_path: Path) -> None:
    extras = '[tool.poetry.extras]\nfast = ["gamma"]\nodd = ["unused"]\n'
    optional = 'gamma = {version = "^3", optional = true}\nunused = {version = "*", optional = true}\n'
    text = POETRY.replace('gamma = {version = "*", optional = true}\n', optional) + extras
    tests = {"tests/test_demo.py": "import gamma\nfrom deep import more\n"}
    lock = f'{POETRY_LOCK}[[package]]\nname = "deep"\nversion = "5"\n'
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "poetry.lock": lock, **tests}))
    roots = plan.files[ROOTS].splitlines()
    assert {"gamma>=3,<4", "deep"} <= set(roots)
    assert not any(each.startswith("unused") for each in roots)
    assert "deep==5\n" in plan.files[CONSTRAINTS]


PDM_LOCK = """
[[package]]
name = "alpha"
version = "1.4.1"
groups = ["default"]
[[package]]
name = "alpha"
version = "1.4.1"
extras = ["fast"]
[[package]]
name = "beta"
version = "2.0"
git = "https://example.invalid/beta.git"
"""
PIPFILE_LOCK = """
{"_meta": {}, "default": {"alpha": {"version": "==1.4.1"}, "beta": {"git": "https://example.invalid/beta.git"}},
 "develop": {"alpha": {"version": "==1.4.1"}, "gamma": {"version": "==3; echo"}}}
"""


@pytest.mark.parametrize(("name", "text"), [("pdm.lock", PDM_LOCK), ("Pipfile.lock", PIPFILE_LOCK)])
def test_other_locks_bound_versions_of_releases(tmp_path: Path, name: str, text: str) -> None:
    plan = plan_for(write(tmp_path, {"pyproject.toml": POETRY, name: text}))
    assert plan.files[CONSTRAINTS] == "alpha==1.4.1\n"
    assert plan.how.endswith(name)


def test_uv_lock_decides_alone_and_is_exported_for_the_tests(tmp_path: Path) -> None:
    plan = plan_for(
        write(tmp_path, {"pyproject.toml": GROUPS, "uv.lock": "version = 1\n", "requirements.txt": "other\n"})
    )
    assert plan.install == (LOCKED, ROOTS)
    assert plan.export == (
        "--no-default-groups",
        "--group=tests",
        "--extra=test",
    )
    assert plan.how == "uv.lock"


def test_extras_that_tox_installs_are_exported_from_the_lock_too(tmp_path: Path) -> None:
    text = '[project]\nname = "demo"\n[project.optional-dependencies]\npack = ["alpha"]\nmore = ["beta"]\n'
    tox = "[testenv]\nextras =\n    pack\n"
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "uv.lock": "version = 1\n", "tox.ini": tox}))
    assert plan.export == ("--no-default-groups", "--extra=pack")


def test_only_extras_that_the_lock_has_are_exported(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "demo"\n[project.optional-dependencies]\nPack = ["alpha"]\n',
        "setup.cfg": "[options]\ntests_require = beta\n",
        "uv.lock": "version = 1\n",
        "Makefile": "test:\n\tuv sync --all-extras\n\tpytest\n",
    }
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--extra=Pack")


@pytest.mark.parametrize(
    ("locked", "exported", "roots"), [("Tests = []", ["--group=tests"], ""), ("", [], "alpha\n")]
)
def test_a_group_that_a_lock_does_not_know_is_installed_beside_it(
    tmp_path: Path, locked: str, exported: list[str], roots: str
) -> None:
    text = '[project]\nname = "demo"\n[dependency-groups]\ntests = ["alpha"]\n'
    package = '[[package]]\nname = "demo"\nsource = { editable = "." }\n[package.dev-dependencies]\n'
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "uv.lock": package + locked}))
    assert plan.export == ("--no-default-groups", *exported)
    assert plan.files[ROOTS] == f"{TEST_RUNNER}\n{roots}"


@pytest.mark.parametrize("lock", ["package = 3", "package = [1]", "[[package]]\nsource = 3", "version = 1"])
def test_a_lock_that_does_not_hold_the_project_leaves_the_groups_to_uv(tmp_path: Path, lock: str) -> None:
    text = '[project]\nname = "demo"\n[dependency-groups]\ntest = ["virtue"]\n'
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "uv.lock": lock}))
    assert plan.export == ("--no-default-groups", "--group=test")


def test_a_locked_extra_that_tests_import_is_installed(tmp_path: Path) -> None:
    text = '[project]\nname = "demo"\n[project.optional-dependencies]\nfast = ["speedy"]\nother = ["slow"]\n'
    files = {"pyproject.toml": text, "uv.lock": "version = 1\n", "tests/test_a.py": "import speedy\n"}
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--extra=fast")
    conflicts = '[tool.uv]\nconflicts = [[{ extra = "fast" }, { extra = "other" }]]\n'
    files["pyproject.toml"] += conflicts
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups",)
    others = '[tool.uv]\nconflicts = [[{ group = "old" }, { group = "new" }, { extra = "other" }]]\n'
    files["pyproject.toml"] = text + others
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--extra=fast")
