"""The tests that a candidate adds may use what its configuration adds. The base's tests keep the base's."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.layout.config import settings_for
from app.runners.evaluators.testing.layout.own_options import with_own_options
from tests.unit.runners.evaluators.testing.gate_support import GOOD, judge

HEAD = "[tool.pytest.ini_options]\n"
STRICT = f"{HEAD}addopts = '--strict-markers'\nfilterwarnings = ['error']\n"
MARKED = "import pytest\n\n\n@pytest.mark.slow\ndef test_more():\n    assert 1\n"
WARNS = "import warnings\n\n\ndef test_more():\n    warnings.warn('old thing', DeprecationWarning)\n"
HELPED = {
    "tests/helpers/aids.py": "ONE = 1\n",
    "tests/test_more.py": "import aids\n\n\ndef test_more(): ...\n",
}
TWICE = {f"tests/{name}/test_more.py": "def test_more(): ...\n" for name in "ab"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("before", "after", "own"),
    [
        pytest.param(STRICT, f"{STRICT}markers = ['slow']\n", {"tests/test_more.py": MARKED}, id="a marker"),
        pytest.param(
            STRICT,
            STRICT.replace("'error'", "'error', 'ignore:old thing:DeprecationWarning'"),
            {"tests/test_more.py": WARNS},
            id="a filter",
        ),
        pytest.param(STRICT, f"{STRICT}pythonpath = ['tests/helpers']\n", HELPED, id="an import path"),
        pytest.param(HEAD, f"{HEAD}addopts = '-q --import-mode importlib'\n", TWICE, id="an import mode"),
        pytest.param("", f"{HEAD}addopts = '--import-mode=importlib'\n", TWICE, id="its first import mode"),
    ],
)
async def test_new_tests_use_what_came_with_them(context, before: str, after: str, own) -> None:
    base = {**GOOD, "pyproject.toml": before}
    without = await judge(context({**base, **own}, base), outside=False, counter_tests="off")
    assert without.status == "failed", without.feedback
    added = {**base, **own, "pyproject.toml": after}
    passed = await judge(context(added, base), outside=False, counter_tests="off")
    assert passed.status == "passed", passed.feedback
    wrong = {**added, "tests/test_wrong.py": "def test_wrong():\n    assert 0\n"}
    failed = await judge(context(wrong, base), outside=False, counter_tests="off")
    assert failed.metadata["failing"] == ["tests/test_wrong.py::test_wrong"]


@pytest.mark.parametrize(
    ("before", "after", "added", "names"),
    [
        pytest.param(
            "", f"{HEAD}asyncio_mode = 'auto'\n", ["-o", "asyncio_mode=auto"], ("asyncio_mode",), id="new"
        ),
        pytest.param(
            f"{HEAD}asyncio_mode = 'auto'\n", f"{HEAD}asyncio_mode = 'auto'\n", [], (), id="as before"
        ),
        pytest.param(
            HEAD,
            f"{HEAD}python_files = 'none_*'\ntestpaths = 'none'\naddopts = '-k none --co -p none'\n",
            [],
            (),
            id="what selects tests",
        ),
    ],
)
def test_what_is_taken_from_the_candidate(
    tree, before: str, after: str, added: list[str], names: tuple[str, ...]
) -> None:
    base: Path = tree({"pyproject.toml": before})
    own: Path = tree({"pyproject.toml": after})
    settings = settings_for(base, base)
    found = with_own_options(settings, own, base)
    assert found.arguments == (*settings.arguments, *added)
    assert found.own == names


ALONE = {
    "calc.py": GOOD["calc.py"],
    "tests/a/test_calc.py": GOOD["tests/test_calc.py"],
    "tests/b/test_calc.py": f"{GOOD['tests/test_calc.py']}\n\nimport pytest\n\n\n"
    "@pytest.mark.slow\ndef test_slow():\n    assert 0\n",
    "examples/test_demo.py": "import nowhere_to_be_found\n",
    "pyproject.toml": f"{HEAD}testpaths = ['tests']\nmarkers = ['slow']\n"
    "addopts = '--import-mode=importlib -m \"not slow\"'\n",
}


@pytest.mark.anyio
async def test_a_tree_without_a_base_is_run_as_it_says(context) -> None:
    result = await judge(context(ALONE))
    assert (result.status, result.metadata["passed_tests"]) == ("passed", 2), result.feedback


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("pytest.ini", "[pytest]\npythonpath = 'src\n", id="an open quotation"),
        pytest.param("pyproject.toml", "tool = 1\n", id="no table of tools"),
        pytest.param("pyproject.toml", "[tool]\npytest = 'x'\n", id="no table of pytest"),
        pytest.param("pytest.toml", "pytest = ['x']\n", id="another value"),
        pytest.param("pytest.toml", f"pytest = {'[' * 100_000}\n", id="very deep"),
    ],
)
def test_settings_that_pytest_cannot_read_end_nothing(tree, name: str, text: str) -> None:
    base: Path = tree({"calc.py": ""})
    own: Path = tree({name: text})
    assert settings_for(own, own).config_file in (own / name, None)
    assert settings_for(own, base).config_file is None
