"""Small rules of the test gate: configuration, lost tests, and what a missing module means."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.testing import pytest_runner
from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.inventory import lost_tests
from app.runners.evaluators.testing.layout.written import written_tests
from app.runners.evaluators.testing.running.dependencies import is_foreign, is_in_tree, missing_module


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        pytest.param(
            {"pytest.ini": "[pytest]\naddopts = -n auto --cov=x -m 'not slow'\n"},
            ("-m", "not slow"),
            id="ini",
        ),
        pytest.param(
            {"tox.ini": "[pytest]\naddopts = --ignore old --pyargs\n"},
            ("--ignore", "old", "--pyargs"),
            id="tox",
        ),
        pytest.param(
            {"setup.cfg": "[tool:pytest]\naddopts = --deselect=a::b\n"}, ("--deselect=a::b",), id="setup.cfg"
        ),
        pytest.param(
            {"pytest.ini": "[pytest]\naddopts = -Werror --log-level INFO --ds=shop.settings\n"},
            ("--log-level", "INFO", "--ds=shop.settings"),
            id="what tests find",
        ),
        pytest.param({"pytest.toml": "[pytest]\naddopts = ['-p', 'x']\n"}, ("-p", "x"), id="pytest.toml"),
        pytest.param(
            {"pytest.ini": "[pytest]\naddopts = --hypothesis-profile few --hypothesis-seed=0\n"},
            ("--hypothesis-profile=few", "--hypothesis-seed=0"),
            id="options of a plugin",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.pytest]\naddopts = ['--asyncio-mode=auto']\n"},
            ("-o", "asyncio_mode=auto"),
            id="native table",
        ),
    ],
)
def test_options_of_the_base_that_are_kept(tree, config, arguments) -> None:
    settings = settings_for(tree({}), tree(config))
    assert settings.arguments == arguments
    assert settings.config_file is not None
    assert settings.config_file.name == next(iter(config))


def test_import_paths_are_those_of_the_tree_that_runs(tree) -> None:
    base = tree({"pytest.ini": "[pytest]\npythonpath = src lib\n"})
    here = tree({})
    assert settings_for(here, base).arguments == ("-o", f"pythonpath='{here}/src' '{here}/lib'")


def test_a_configured_project_has_its_src_on_the_path_too(tree) -> None:
    base = tree({"pytest.ini": "[pytest]\ntestpaths = tests\n"})
    here = tree({"src/a.py": ""})
    assert settings_for(here, base).arguments == ("-o", f"pythonpath='{here}/src'")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"setup.py": "setup(package_dir={'': 'lib'})\n"}, id="setup.py"),
        pytest.param({"setup.cfg": "[options]\npackage_dir =\n    = lib\n"}, id="setup.cfg"),
        pytest.param({"pyproject.toml": "[tool.setuptools.package-dir]\n'' = 'lib'\n"}, id="pyproject"),
    ],
)
def test_the_directory_that_setuptools_is_told_is_on_the_path(tree, files) -> None:
    here = tree({**files, "lib/a.py": ""})
    assert settings_for(here, tree(files)).arguments[-2:] == ("-o", f"pythonpath='{here}/lib'")
    assert is_in_tree("a", here)


@pytest.mark.parametrize("named", ["/etc", "../lib", "gone"])
def test_no_directory_outside_the_tree_is_on_the_path(tree, named: str) -> None:
    here = tree({"setup.py": f"setup(package_dir={{'': '{named}'}})\n"})
    assert settings_for(here, here).arguments == ()


def test_a_plugin_comes_with_the_plugins_that_it_needs(tree) -> None:
    entry = "[pytest11]\n{0} = {0}_module\n"
    files = {
        "pytest_outer-1.dist-info/METADATA": "Name: pytest-outer\nRequires-Dist: pytest_inner>=1\n",
        "pytest_outer-1.dist-info/entry_points.txt": entry.format("outer"),
        "pytest_inner-1.dist-info/METADATA": (
            'Name: pytest-inner\nRequires-Dist: pytest-outer\nRequires-Dist: pytest-other; extra == "dev"\n'
        ),
        "pytest_inner-1.dist-info/entry_points.txt": entry.format("pytest-inner"),
        "pytest_other-1.dist-info/METADATA": "Name: pytest-other\n",
        "pytest_other-1.dist-info/entry_points.txt": entry.format("other"),
        "test_a.py": "def test_a(outer_fixture): ...\n",
        "test_b.py": "def test_b(): ...\n",
    }
    place = tree(files)
    code = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from pytest_runner.plugins import needed_plugins\n"
        "print(*(needed_plugins([f'{sys.argv[2]}/{name}']) for name in ('test_a.py', 'test_b.py')))\n"
    )
    beside = Path(pytest_runner.__file__).parents[1]
    command = [sys.executable, "-I", "-c", code, str(beside), str(place)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "['outer', 'pytest-inner'] []\n"


def test_a_candidate_may_only_configure_what_weakens_nothing(tree) -> None:
    own = "[pytest]\naddopts = --co\npython_files = x\nmarkers =\n    slow: x\ntestpaths = none\n"
    settings = settings_for(tree({"pytest.ini": own}), tree({}))
    assert settings.config_file is None
    assert settings.arguments == ("-o", "markers=\nslow: x")


@pytest.mark.parametrize(
    ("at_base", "present", "lost"),
    [
        pytest.param(["t::a"], ["t::a", "t::b"], [], id="kept"),
        pytest.param(["t::a"], ["t::b"], ["t::a"], id="gone"),
        pytest.param(["t::a[1]", "t::a[2]"], ["t::a[x]", "t::a[y]"], [], id="renamed parameters"),
        pytest.param(["t::a[1]", "t::a[2]"], ["t::a[1]"], ["t::a[2]"], id="fewer parameters"),
        pytest.param(["t::a[1]", "t::a[2]"], [], ["t::a"], id="function gone"),
        pytest.param(["t::a"], ["t::a[1]"], [], id="now with parameters"),
    ],
)
def test_lost_tests(at_base: list[str], present: list[str], lost: list[str]) -> None:
    assert lost_tests(at_base, present) == lost


def test_tests_are_read_from_text(tree) -> None:
    source = (
        "import x\n\ndef test_a(): ...\nasync def test_b(): ...\ndef helper(): ...\n"
        "class TestC:\n    def test_d(self): ...\n    def other(self): ...\n"
        "class Check(unittest.TestCase):\n    def test_e(self): ...\n"
        "class Plain:\n    def test_f(self): ...\n"
    )
    files = {"t.py": source, "bad.py": "def f(:\n"}
    assert written_tests(tree(files), [*files, "gone.py"]) == [
        "t.py::test_a",
        "t.py::test_b",
        "t.py::TestC::test_d",
        "t.py::Check::test_e",
    ]


@pytest.mark.parametrize(
    ("module", "files", "foreign"),
    [
        pytest.param(
            "numpy", {"pyproject.toml": "[project]\ndependencies = ['NumPy>=1']\n"}, True, id="declared"
        ),
        pytest.param(
            "yaml", {"requirements-dev.txt": "# x\nPyYAML==6\n"}, True, id="declared by another name"
        ),
        pytest.param("x", {"requirements/storage/x.txt": "x>1\n"}, True, id="a file in a directory of files"),
        pytest.param("x", {"pyproject.toml": "[dependency-groups]\ndev = ['x']\n"}, True, id="group"),
        pytest.param("x", {"pyproject.toml": "[tool.poetry.dependencies]\nx = '1'\n"}, True, id="poetry"),
        pytest.param(
            "x_y", {"setup.cfg": "[options]\ninstall_requires =\n    x-y>1\n"}, True, id="setup.cfg"
        ),
        pytest.param("numpy", {"app.py": "def f():\n    import numpy\n"}, True, id="imported by the code"),
        pytest.param(
            "duration", {"pyproject.toml": "[project]\nname = 'duration'\n"}, False, id="the project itself"
        ),
        pytest.param("duration", {}, False, id="unknown"),
        pytest.param("app", {"app.py": "import app.sub\n"}, False, id="there is such a module"),
        pytest.param("x", {"pyproject.toml": "broken ="}, False, id="broken pyproject"),
    ],
)
def test_a_missing_module_is_foreign_when_the_project_needs_it(tree, module, files, foreign) -> None:
    sources = [name for name in files if name.endswith(".py")]
    assert is_foreign(module, tree(files), sources) is foreign


def test_the_missing_module_is_read_from_the_message() -> None:
    assert missing_module("E   ModuleNotFoundError: No module named 'a.b'") == "a"
    assert missing_module("ImportError: cannot import name 'x' from 'y'") is None
