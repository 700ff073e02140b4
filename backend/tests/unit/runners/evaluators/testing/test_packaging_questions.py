"""New requirements that nothing uses, code that is loaded unasked, and hooks that decide are questions."""

import pytest

from app.runners.evaluators.testing.source_questions.about_hooks import about_hooks
from app.runners.evaluators.testing.source_questions.about_packaging import about_packaging
from tests.unit.runners.evaluators.testing.test_source_questions import new_source

PROJECT = '[project]\nname = "demo"\nversion = "1"\ndependencies = ["attrs"]\n'
BASE = {
    "pyproject.toml": PROJECT,
    "demo.py": "import attrs\nimport yaml\n",
    "tests/test_demo.py": "import demo\n\n\ndef test_demo():\n    assert demo\n",
}
PLUGIN = '[project.entry-points.pytest11]\ndemo = "demo"\n'


def texts(tmp_path, files: dict[str, str], base: dict[str, str] = BASE) -> list[str]:
    source = new_source(tmp_path, files, base)
    return [each.text for each in (*about_hooks(source), *about_packaging(source))]


def requiring(name: str) -> str:
    return PROJECT.replace('"attrs"', f'"attrs", "{name}>=2"')


def test_a_requirement_that_nothing_imports(tmp_path) -> None:
    files = {"pyproject.toml": requiring("requests"), "demo.py": "import attrs\nimport json\nimport yaml\n"}
    assert texts(tmp_path, files) == [
        "The project newly requires the package `requests`, which no source imports: may that be?"
    ]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("requests", "import attrs\nimport requests\n", id="imported"),
        pytest.param("opencv-headless", "import attrs\nimport cv2\n", id="another name"),
        pytest.param("PyYAML", "import attrs\nimport yaml\n", id="already imported"),
        pytest.param("fast-worker", "import attrs\nWORKER = 'fast_worker.Worker'\n", id="named in a text"),
        pytest.param("types-requests", "import attrs\n", id="stubs"),
        pytest.param("attrs", "import attrs\n", id="already required"),
    ],
)
def test_other_requirements_are_no_question(tmp_path, name: str, code: str) -> None:
    assert texts(tmp_path, {"pyproject.toml": requiring(name), "demo.py": code}) == []


def test_code_that_every_run_of_pytest_loads(tmp_path) -> None:
    files = {"pyproject.toml": f"{PROJECT}{PLUGIN}"}
    assert texts(tmp_path, files) == [
        "Every run of pytest newly loads `demo` of this project: does the goal say so?"
    ]
    assert texts(tmp_path, {"demo.py": "x = 1\n"}, {**BASE, **files}) == []


def test_a_program_with_the_name_of_another(tmp_path) -> None:
    files = {"pyproject.toml": f'{PROJECT}[project.scripts]\ngit = "demo:run"\ndemo = "demo:run"\n'}
    assert texts(tmp_path, files) == [
        "The project newly installs a program of the name `git`: does the goal say so?"
    ]


@pytest.mark.parametrize(
    ("hook", "line"),
    [
        ("def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n", 2),
        ("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n", 2),
        ("def pytest_runtest_protocol(item):\n    print(item)\n    return True\n", 3),
        ("def pytest_pyfunc_call(pyfuncitem):\n    found = yield\n    found.force_result(True)\n", 3),
        ("def pytest_ignore_collect(collection_path):\n    return 'demo' in collection_path.name\n", 2),
        ("import sys\n\ncollect_ignore = ['test_demo.py']\n", 3),
        ("def pytest_collection_modifyitems(items):\n    items[0].add_marker(pytest.mark.xfail)\n", 2),
        ("def pytest_runtest_logreport(report):\n    setattr(report, 'outcome', 'passed')\n", 2),
    ],
)
def test_a_new_hook_that_decides_how_tests_end(tmp_path, hook: str, line: int) -> None:
    (text,) = texts(tmp_path, {"tests/conftest.py": hook})
    assert text.endswith(
        f"in the new `tests/conftest.py` decides how tests end, on line {line}: does the goal say so?"
    )


@pytest.mark.parametrize(
    "hook",
    [
        "def pytest_runtest_makereport(item, call):\n    got = yield\n    item.rep = got.get_result()\n",
        "def pytest_collection_modifyitems(items):\n    items.sort(key=str)\n",
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: waits')\n",
        "def pytest_sessionfinish(session):\n    return None\n",
    ],
)
def test_other_new_hooks_are_no_question(tmp_path, hook: str) -> None:
    assert texts(tmp_path, {"tests/conftest.py": hook}) == []


def test_a_first_hook_in_the_code(tmp_path) -> None:
    hook = "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
    assert texts(tmp_path, {"demo.py": hook}) == [
        "`pytest_pyfunc_call` in `demo.py` decides how tests end, on line 2: does the goal say so?"
    ]
    plugin = {**BASE, "plugin.py": "def pytest_configure(config):\n    pass\n"}
    assert texts(tmp_path, {"demo.py": hook}, plugin) == []
