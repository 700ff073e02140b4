"""What tests find in their process: Python as it usually is, places, git, and an end."""

import re

import pytest

from tests.unit.runners.evaluators.testing.gate_support import TEST, judge
from tests.unit.runners.evaluators.testing.setups_support import CODE, WRONG

pytestmark = pytest.mark.anyio


ENDLESS = {**CODE, "tests/test_wait.py": "import time\n\n\ndef test_wait():\n    time.sleep(600)\n"}


async def test_a_base_whose_test_never_ends_is_named_with_its_limit(context) -> None:
    made = context({**ENDLESS, "b.py": ""}, ENDLESS)
    result = await judge({**made, "limits": {"seconds": 6.0}}, outside=False)
    assert (result.status, result.metadata["reason"]) == ("errored", "environment")
    words = r"tests/test_wait.py::test_wait does not end within \d+ seconds in the base either"
    assert re.fullmatch(words, result.feedback)


async def test_a_candidate_that_waits_for_ever_fails(context) -> None:
    waits = {"calc/__init__.py": "import time\n\n\ndef add(a, b):\n    time.sleep(600)\n"}
    base = {**CODE, **TEST}
    assert (await judge(context({**base, **waits}, base), outside=False, timeout=6.0)).status == "failed"


FLAGS = """
import multiprocessing
import sys
from pathlib import Path


def test_python_is_not_isolated():
    assert not sys.flags.isolated
    assert not sys.flags.ignore_environment
    assert not any(name.endswith("pytest_runner") for name in sys.path)


def test_the_place_has_few_letters():
    letters = {each for each in str(Path(__file__).parent.parent.parent.name) if each.isalpha()}
    assert letters <= set("evaluate")
"""


async def test_code_finds_python_as_it_usually_is(context) -> None:
    base = {**CODE, **TEST, "tests/test_flags.py": FLAGS}
    result = await judge(context(base, base), outside=False)
    assert result.status == "passed", result.feedback


@pytest.mark.parametrize("configured", ["base", "candidate"])
async def test_src_is_found_beside_the_places_that_a_project_names(context, configured: str) -> None:
    config = {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['tools']\n"}
    tools = {"tools/helper.py": "TWO = 2\n"}
    test = {
        "tests/test_calc.py": "from calc import add\nfrom helper import TWO\n\n\ndef test_add():\n"
        "    assert add(1, TWO) == 3\n"
    }
    base = {**{f"src/{name}": text for name, text in CODE.items()}, **tools, **test, **config}
    wrong = {f"src/{name}": text for name, text in WRONG.items()}
    before = base if configured == "base" else {**base, "pyproject.toml": ""}
    assert (await judge(context(base, before), outside=False)).status == "passed"
    assert (await judge(context({**base, **wrong}, before), outside=False)).status == "failed"


SPAWNING = """
import multiprocessing

from calc import add


def test_spawned():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(add, (1, 2)) == 3
"""


async def test_a_process_that_a_test_spawns_finds_the_code(context) -> None:
    base = {**CODE, "tests/test_spawn.py": SPAWNING}
    made = context({**base, "b.py": ""}, base)
    result = await judge({**made, "limits": {"seconds": 60.0}}, outside=False)
    assert result.status == "passed", result.feedback


COMMITS = """import os
import subprocess


def git(*words, at):
    return subprocess.run(["git", *words], cwd=at, check=True, capture_output=True, text=True).stdout


def test_commit(tmp_path):
    git("init", at=tmp_path)
    git("commit", "--allow-empty", "-m", "one", at=tmp_path)
    git("config", "user.name", "Ann", at=tmp_path)
    git("commit", "--allow-empty", "-m", "two", at=tmp_path)
    assert git("log", "--format=%an", at=tmp_path).splitlines() == ["Ann", "Tests"]


def test_tree():
    assert not os.path.ismount(os.getcwd())
"""


async def test_tests_have_a_git_identity_that_they_can_change_and_a_tree_that_is_no_mount(context) -> None:
    base = {**CODE, "tests/test_git.py": COMMITS}
    result = await judge(context(base, base), outside=False, counter_tests="off")
    assert (result.status, result.metadata["failing"]) == ("passed", [])


LEAVES = """import os
import tempfile

from calc import add


def test_leaves():
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
    assert add(1, 2) == {}


def test_stays():
    assert os.path.exists("calc") and add(1, 2) == 3
"""


@pytest.mark.parametrize(("wanted", "failing"), [("3", []), ("4", ["tests/test_calc.py::test_leaves"])])
async def test_a_test_may_leave_the_process_in_a_directory_that_it_removed(context, wanted, failing) -> None:
    base = {**CODE, "tests/test_calc.py": LEAVES.replace("{}", wanted)}
    result = await judge(context({**base, "b.py": "X = 1\n"}, base), outside=False, counter_tests="off")
    assert result.metadata["failing"] == failing
    assert result.metadata["passed_tests"] == 2 - len(failing)


STAGED = {
    "calc/__init__.py": 'import os\n\n\ndef stage():\n    return os.environ["CALC_STAGE"]\n',
    "tests/test_stage.py": "import os\nfrom pathlib import Path\n\nfrom calc import stage\n\n\n"
    "def test_stage():\n    assert stage() == 'testing'\n\n\n"
    "def test_place():\n    assert Path(os.environ['CALC_HOME']) == Path(__file__).parents[1] / 'data'\n",
    "tox.ini": "[testenv]\nsetenv =\n    CALC_STAGE = testing\n    CALC_HOME = {toxinidir}{/}data\n",
}


async def test_variables_that_tox_sets_are_there_in_every_process(context) -> None:
    other = {"tox.ini": "[testenv]\nsetenv = CALC_STAGE = production\n"}
    result = await judge(context({**STAGED, **other, "b.py": ""}, STAGED))
    assert result.status == "passed", result.feedback
    assert result.metadata["outside"]["agrees"] > 0
