"""Sources in which pytest looks for doctests are no test files."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.python_files import named_otherwise, patterns_of_tests
from app.runners.evaluators.testing.layout.setting import is_test_file

SOURCE = 'def double(x):\n    """\n    >>> double(2)\n    4\n    """\n    return 2 * x\n'
TEST = "def test_it():\n    assert True\n"
FILES = {
    "package/__init__.py": "",
    "package/formatters.py": SOURCE,
    "package/inside_checks.py": "class TestInside:\n    def test_it(self):\n        pass\n",
    "checks/__init__.py": "",
    "checks/one.py": TEST,
    "tests/test_one.py": TEST,
    "tests/helpers.py": SOURCE,
    "damaged.py": "def (:\n",
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "patterns",
    [
        pytest.param(["*.py"], id="every-module"),
        pytest.param(["package/*.py", "checks/*.py", "damaged.py", "tests/*.py"], id="directories"),
    ],
)
def test_sources_with_doctests_are_left_to_the_candidate(base: Path, patterns: list[str]) -> None:
    found = patterns_of_tests(base, patterns)
    tests = {name for name in FILES if is_test_file(name, found)}
    assert "package/formatters.py" not in tests
    assert {"package/inside_checks.py", "checks/one.py", "tests/test_one.py", "damaged.py"} <= tests
    assert is_test_file("checks/two.py", found)


def test_usual_patterns_stay_as_they_are(base: Path) -> None:
    assert patterns_of_tests(base, ["test_*.py", "*_test.py", "tests.py"]) == (
        "test_*.py",
        "*_test.py",
        "tests.py",
    )


def test_the_settings_of_a_base_name_its_tests(base: Path) -> None:
    (base / "pytest.ini").write_text(
        "[pytest]\naddopts = --doctest-modules\npython_files = package/*.py test_*.py\n"
    )
    settings = settings_for(base, base)
    assert not is_test_file("package/formatters.py", settings.test_files)
    assert is_test_file("tests/test_one.py", settings.test_files)


def test_a_module_in_a_test_directory_that_only_imports_tests_is_a_test_file(base: Path) -> None:
    (base / "tests" / "__main__.py").write_text("from tests.test_one import *\n")
    found = patterns_of_tests(base, ["__main__.py"])
    assert found == ("tests/__main__.py",)


def test_a_package_is_no_directory_of_tests_because_pytest_looks_into_its_init(base: Path) -> None:
    (base / "checks" / "__init__.py").write_text(TEST)
    assert patterns_of_tests(base, ["test_*.py", "__init__.py"]) == ("test_*.py", "checks/__init__.py")


USUAL = ("test_*.py", "*_test.py")


def test_modules_of_unittest_may_have_any_name_in_a_test_directory(tmp_path: Path) -> None:
    files = {
        "package/tests/__init__.py": "from .smoke import SmokeTest\n",
        "package/tests/__main__.py": "class TestNever:\n    def test_it(self): ...\n",
        "package/tests/smoke.py": "class Smoke(TestCase):\n    async def test_it(self): ...\n",
        "package/tests/helpers.py": SOURCE,
        "package/probes.py": "class Probe:\n    def test_it(self): ...\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert named_otherwise(tmp_path, USUAL) == ("package/tests/smoke.py",)
    assert settings_for(tmp_path, tmp_path).test_files == (*USUAL, "package/tests/smoke.py")
    (tmp_path / "test_other.py").write_text("x = 1\n")
    assert named_otherwise(tmp_path, USUAL) == ("package/tests/smoke.py",), "it holds no tests"
    (tmp_path / "test_other.py").write_text(TEST)
    assert named_otherwise(tmp_path, USUAL) == ()


def test_each_package_may_have_a_module_of_tests(tmp_path: Path) -> None:
    for name in ("src/zoo/tests.py", "src/zoo/bird/test.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(TEST)
    (tmp_path / "src/zoo/latest.py").write_text(TEST)
    assert named_otherwise(tmp_path, USUAL) == ("src/zoo/bird/test.py", "src/zoo/tests.py")
    (tmp_path / "test_other.py").write_text(TEST)
    assert named_otherwise(tmp_path, USUAL) == ()
