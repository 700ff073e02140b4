"""Which settings the tests of a Django project run with, and that a plug-in is there to run them."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.config import settings_for
from app.workspaces.environments.django import settings_of
from app.workspaces.environments.plan import ROOTS, plan_for

MANAGE = 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_.settings")\n'
SITE = {"requirements.txt": "Django>=5\n", "manage.py": MANAGE, "site_/settings.py": "DEBUG = True\n"}
TOX = "[testenv]\ncommands = coverage run -m django test --settings=tests.settings {posargs}\n"


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


@pytest.mark.parametrize(
    ("files", "module"),
    [
        pytest.param(SITE, "site_.settings", id="manage.py"),
        pytest.param({**SITE, "tox.ini": TOX, "tests/settings.py": ""}, "tests.settings", id="tests first"),
        pytest.param({**SITE, "tox.ini": TOX}, "site_.settings", id="a module that is not there"),
        pytest.param(
            {
                "runtests.py": "environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n",
                "tests/settings/__init__.py": "",
            },
            "tests.settings",
            id="a program, and a package",
        ),
        pytest.param(
            {"Makefile": "DJANGO_SETTINGS_MODULE ?= a.b\n", "src/a/b.py": ""}, "a.b", id="below src"
        ),
        pytest.param(
            {"run.sh": 'export DJANGO_SETTINGS_MODULE="test_settings"\n', "test_settings.py": ""},
            "test_settings",
            id="a script",
        ),
        pytest.param({"tox.ini": "[testenv]\n"}, "", id="no Django"),
    ],
)
def test_the_settings_are_those_of_the_tests(tmp_path: Path, files: dict[str, str], module: str) -> None:
    found = settings_of(write(tmp_path, files))
    assert found == ((module, "") if module else None)


BESIDE = {
    "requirements.txt": "Django>=5\n",
    "tests/manage.py": MANAGE.replace("site_.settings", "settings"),
    "tests/settings.py": "DEBUG = True\n",
    "tests/shop/tests.py": "from shop.models import Item\n\ndef test_item():\n    assert Item()\n",
    "tests/shop/test_forms.py": "def test_form():\n    pass\n",
}


def test_a_site_among_the_tests_is_imported_from_its_own_directory(tmp_path: Path) -> None:
    tree = write(tmp_path, BESIDE)
    assert settings_of(tree) == ("settings", "tests")
    found = settings_for(tree, tree)
    assert "--ds=settings" in found.arguments
    assert f"pythonpath={tree / 'tests'}" in found.arguments


NO_FUNCTIONS = "python_functions="


def test_only_the_classes_of_unittest_are_tests_for_djangos_own_runner(tmp_path: Path) -> None:
    tree = write(tmp_path, SITE)
    assert NO_FUNCTIONS in settings_for(tree, tree).arguments
    (tree / "tox.ini").write_text("[testenv]\ncommands =\n    pytest {posargs}\n")
    assert NO_FUNCTIONS not in settings_for(tree, tree).arguments


def test_modules_named_tests_run_beside_others(tmp_path: Path) -> None:
    tree = write(tmp_path, BESIDE)
    assert "tests.py" in settings_for(tree, tree).test_files
    (tree / "tests/manage.py").unlink()
    assert "tests.py" not in settings_for(tree, tree).test_files


def test_a_site_that_knows_no_pytest_gets_the_plug_in_and_its_settings(tmp_path: Path) -> None:
    tree = write(tmp_path, SITE)
    assert "pytest-django" in plan_for(tree).files[ROOTS].splitlines()
    assert "--ds=site_.settings" in settings_for(tree, tree).arguments


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"requirements.txt": "Django\npytest\n", "pytest.ini": "[pytest]\n"}, id="pytest"),
        pytest.param(
            {"requirements.txt": "pytest\n", "tests/conftest.py": "django.setup()\n"}, id="a conftest"
        ),
    ],
)
def test_a_project_that_sets_itself_up_for_pytest_is_left_alone(tmp_path: Path, more: dict[str, str]) -> None:
    tree = write(tmp_path, {**SITE, **more})
    assert "pytest-django" not in plan_for(tree).files[ROOTS].splitlines()
    assert not any(each.startswith("--ds") for each in settings_for(tree, tree).arguments)


TOX = "[testenv]\ndeps =\n    pytest-django\nsetenv =\n    DJANGO_SETTINGS_MODULE = site_.settings\n"


@pytest.mark.parametrize(
    ("more", "given"),
    [
        pytest.param({"tox.ini": TOX}, True, id="tox"),
        pytest.param(
            {"tox.ini": TOX, "pytest.ini": "[pytest]\naddopts = --ds=other\n"}, False, id="an option"
        ),
        pytest.param(
            {"tox.ini": TOX, "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = other\n"}, False, id="pytest"
        ),
        pytest.param({"tox.ini": TOX.replace("pytest-django", "pytest")}, False, id="no plug-in"),
        pytest.param({"tox.ini": TOX.replace("site_.", "away.")}, False, id="not in the tree"),
    ],
)
def test_settings_that_tox_alone_names_reach_pytest(tmp_path: Path, more: dict[str, str], given) -> None:
    conftest = {"tests/conftest.py": "", "pytest.ini": "[pytest]\naddopts = -q\n"}
    tree = write(tmp_path, {**SITE, **conftest, **more})
    assert ("--ds=site_.settings" in settings_for(tree, tree).arguments) is given
