"""What is said of a failed doctest stays the same when its docstring moves, and only then."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing import pytest_runner
from app.runners.evaluators.testing.pytest_runner.failures import message_of
from app.runners.evaluators.testing.running.dependencies import lacking
from app.runners.evaluators.testing.running.failure_words import fails_alike
from app.runners.evaluators.testing.running.report import Outcome, RanTest
from app.runners.evaluators.testing.suggestions import about_failure

_PLUGIN = """
import json
from pathlib import Path
from pytest_runner.failures import files_of, message_of

found = {}

def pytest_runtest_logreport(report):
    if report.outcome == "failed":
        files = [each.name for each in files_of(report.longrepr)]
        found[report.nodeid.partition("::")[0]] = {"message": message_of(report.longrepr), "files": files}

def pytest_sessionfinish():
    Path("found.json").write_text(json.dumps(found))
"""
_DOCTEST = '''import helper


def double(n):
    """Double.

    >>> first = double(1)
    >>> double(
    ...     2)
    4
    """
    return n * 3
'''
_RAISES = _DOCTEST.replace("return n * 3", "return helper.fail(n)").replace(">>> first = double(1)\n    ", "")
_HELPER = "def fail(n):\n    raise AttributeError(\"module 'x' has no attribute 'y'\")\n"


def _reported(place: Path, modules: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Run the doctests of some modules; return message and files of each that fails."""
    for name, text in {
        **modules,
        "helper.py": _HELPER,
        "reporting.py": _PLUGIN,
        "pytest.ini": "[pytest]\n",
    }.items():
        (place / name).write_text(text)
    path = os.pathsep.join([str(place), str(Path(pytest_runner.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "reporting",
        "-p",
        "no:cacheprovider",
        "--doctest-modules",
    ]
    ran = subprocess.run([*command, *modules], cwd=place, env=environment, capture_output=True, check=False)
    assert ran.returncode == 1, ran.stdout
    return json.loads((place / "found.json").read_text())


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    moved = _DOCTEST.replace("import helper\n", "import helper\nimport sys\n").replace(
        "Double.", "Give twice n."
    )
    return _reported(
        tmp_path_factory.mktemp("doctests"),
        {
            "wrong.py": _DOCTEST,
            "moved.py": moved,
            "worse.py": _DOCTEST.replace("n * 3", "n * 5"),
            "other.py": _DOCTEST.replace(">>> first = double(1)", ">>> double(1)\n    2"),
            "raises.py": _RAISES,
        },
    )


def _key(reported: Mapping[str, Mapping[str, Any]], name: str) -> str:
    """Return the key of a message as if all modules had one name."""
    return issue_key(reported[name]["message"].replace(name, "m.py"))


def test_a_failed_example_is_said_with_what_was_expected_and_got(reported: dict[str, dict[str, Any]]) -> None:
    message = reported["wrong.py"]["message"]
    place, _, said = message.partition(": ")
    assert place.endswith("/wrong.py:8")
    assert said == ">>> double(\nExpected:\n    4\nGot:\n    6\n"
    assert "wrong.py" in reported["wrong.py"]["files"]


def test_a_docstring_that_moves_or_says_other_words_fails_in_the_same_way(reported) -> None:
    assert _key(reported, "moved.py") == _key(reported, "wrong.py")


@pytest.mark.parametrize("name", ["worse.py", "other.py", "raises.py"])
def test_another_result_example_or_exception_is_another_failure(reported, name: str) -> None:
    assert _key(reported, name) != _key(reported, "wrong.py")


def test_an_exception_is_said_with_the_files_that_it_came_through(reported) -> None:
    said = reported["raises.py"]["message"].partition(": ")[2]
    assert said == ">>> double(\nAttributeError: module 'x' has no attribute 'y'"
    assert {"raises.py", "helper.py"} <= set(reported["raises.py"]["files"])


@pytest.mark.parametrize(
    ("cause", "lacks"),
    [
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "the tests have no network"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'git'", "a program is missing"),
        ("ValueError: no colon", None),
    ],
)
def test_what_led_to_the_last_exception_is_said_after_it(cause: str, lacks: str | None) -> None:
    first = SimpleNamespace(path="/lib/socket.py", lineno=9, message=cause)
    last = SimpleNamespace(path="/t/test_a.py", lineno=7, message="Failed: DID NOT WARN")
    message = message_of(SimpleNamespace(reprcrash=last, chain=[(None, first, "during"), (None, last, None)]))
    assert message == f"/t/test_a.py:7: Failed: DID NOT WARN\n\nbecause of: {cause}"
    assert lacking(message) == lacks
    alone = message_of(SimpleNamespace(reprcrash=last, chain=[(None, last, None)]))
    assert alone == "/t/test_a.py:7: Failed: DID NOT WARN"


def test_the_end_of_a_long_message_tells_what_the_machine_lacks() -> None:
    output = "Traceback\n" + "  File x\n" * 500 + "ERROR: No matching distribution found for setuptools"
    crash = SimpleNamespace(path="test_a.py", lineno=3, message=output)
    message = message_of(SimpleNamespace(reprcrash=crash))
    assert len(message) < 2000
    assert message.startswith("test_a.py:3: Traceback")
    assert lacking(message) == "a package cannot be installed without a network"
    assert fails_alike(message, message.replace("setuptools", "wheel"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "/with blanks/lib/case.py:9: AssertionError: 1 != 2 at t.py:3: x"),
        ("tests/test_a.py:6", "tests/test_a.py:6: AssertionError: 1 != 2 at t.py:3: x"),
        (r"tests\1/test_a.py:6", r"tests\1/test_a.py:6: AssertionError: 1 != 2 at t.py:3: x"),
    ],
)
def test_the_line_of_the_project_stands_in_place_of_a_librarys(line: str, said: str) -> None:
    message = "/with blanks/lib/case.py:9: AssertionError: 1 != 2 at t.py:3: x"
    assert about_failure(RanTest("t", Outcome.FAILED, 0.1, message, line=line)) == f"Fix t: {said}"
