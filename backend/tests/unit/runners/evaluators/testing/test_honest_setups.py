"""Setups that people use and that must get a verdict, each beside an attempt to misuse the same way."""

import re
from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.dependencies import is_made_by_build
from app.workspaces.files.origin import TreeOrigin, write_origin
from tests.unit.runners.evaluators.testing.gate_support import TEST, judge

pytestmark = pytest.mark.anyio

CODE = {"calc/__init__.py": "class OldWarning(Warning): ...\n\n\ndef add(a, b):\n    return a + b\n"}
WRONG = {"calc/__init__.py": CODE["calc/__init__.py"].replace("a + b", "a - b")}


@pytest.mark.parametrize("place", ["", "src/"])
async def test_warning_filters_may_name_a_class_of_the_project(context, place: str) -> None:
    config = {"pyproject.toml": "[tool.pytest.ini_options]\nfilterwarnings = ['ignore::calc.OldWarning']\n"}
    code = {f"{place}{name}": text for name, text in CODE.items()}
    wrong = {f"{place}{name}": text for name, text in WRONG.items()}
    base = {**code, **TEST, **config}
    assert (await judge(context(base, base), outside=False)).status == "passed"
    assert (await judge(context({**base, **wrong}, base), outside=False)).status == "failed"


CACHED = {
    **TEST,
    "conftest.py": """import pytest


@pytest.fixture(autouse=True)
def counted(request):
    assert request.config.cache.get("calc/runs", 0) == 0
    request.config.cache.set("calc/runs", 1)
    yield
""",
}


async def test_fixtures_may_use_the_cache_of_pytest_which_is_empty_and_outside_the_tree(context) -> None:
    planted = {".pytest_cache/v/calc/runs": "7\n", "tests/test_tree.py": NO_CACHE_IN_TREE}
    base = {**CODE, **CACHED}
    assert (await judge(context({**base, **planted}, base), outside=False)).status == "passed"
    assert (await judge(context({**base, **WRONG}, base), outside=False)).status == "failed"


NO_CACHE_IN_TREE = """from pathlib import Path


def test_tree(request):
    assert not str(request.config.cache.mkdir("x")).startswith(str(Path.cwd()) + "/")
"""

PART = {
    "src/pluggy/__init__.py": "VERSION = 'of the tree'\n\n\ndef double(a):\n    return 2 * a\n",
    "tests/test_pluggy.py": "import pluggy\n\n\ndef test_double():\n    assert pluggy.double(2) == 4\n",
}


async def test_a_project_that_pytest_is_made_of_is_judged_by_its_own_code(context) -> None:
    assert (await judge(context(PART, PART), outside=False)).status == "passed"
    wrong = {"src/pluggy/__init__.py": PART["src/pluggy/__init__.py"].replace("2 * a", "a")}
    assert (await judge(context({**PART, **wrong}, PART), outside=False)).status == "failed"


async def test_a_candidate_cannot_bring_parts_of_pytest(context) -> None:
    base = {**CODE, **TEST}
    forged = {
        **base,
        **WRONG,
        "pluggy/__init__.py": "import os\nos._exit(0)\n",
        "tests/test_more.py": "import pluggy\n\n\ndef test_more():\n    assert pluggy.HookspecMarker\n",
    }
    result = await judge(context(forged, base), outside=False)
    assert result.status == "failed"
    assert result.metadata["failing"] == ["tests/test_calc.py::test_add"]


SCM = """
[project]
name = "calc"
dynamic = ["version"]
[tool.setuptools_scm]
version_file = "calc/_version.py"
"""
VERSIONED = {
    **CODE,
    "pyproject.toml": SCM,
    "calc/__init__.py": "from calc._version import version\n" + CODE["calc/__init__.py"],
    "tests/test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n"
    "    assert calc.version == '1.5'\n",
}


async def test_the_version_file_of_the_build_is_there_and_the_candidate_does_not_write_it(context) -> None:
    made = context(VERSIONED, VERSIONED)
    write_origin(Path(made["base_ref"]), TreeOrigin(described="v1.5-0-gabc123"))
    assert (await judge(made, outside=False)).status == "passed"
    wrong = {"calc/__init__.py": VERSIONED["calc/__init__.py"].replace("a + b", "a - b")}
    made = context({**VERSIONED, **wrong}, VERSIONED)
    write_origin(Path(made["base_ref"]), TreeOrigin(described="v1.5-0-gabc123"))
    assert (await judge(made, outside=False)).status == "failed"


COMPILED = {
    "calc/__init__.py": "from calc._speed import add\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}


async def test_a_submodule_that_a_build_makes_is_no_fault_of_the_candidate(context) -> None:
    result = await judge(context({**COMPILED, "b.py": "X = 1\n"}, COMPILED), outside=False)
    assert (result.status, result.metadata["reason"]) == ("errored", "environment")
    assert "calc._speed" in result.feedback


async def test_a_submodule_that_is_to_be_written_is(context) -> None:
    wanted = TEST["tests/test_calc.py"].replace("from calc import", "from calc.core import")
    base = {"calc/__init__.py": "", "tests/test_calc.py": wanted}
    result = await judge(context({**base, "b.py": "X = 1\n"}, base), outside=False)
    assert result.status == "failed"
    assert "No module named 'calc.core'" in result.feedback


async def test_a_module_that_the_candidate_takes_away_is(context) -> None:
    code = "def add(a, b):\n    return a + b\n"
    base = {"calc/__init__.py": "from calc.core import add\n", "calc/core.py": code, **TEST}
    candidate = {name: text for name, text in base.items() if name != "calc/core.py"}
    assert (await judge(context(candidate, base), outside=False)).status == "failed"


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("from calc._speed import add", True),
        ("from ._speed import add", True),
        ("from . import _speed", True),
        ("from calc import _speed, other", True),
        ("import calc._speed", True),
        ("    from .._speed import add", True),
        ("# a word about calc._speed", False),
        ("from calc._speedy import add", False),
        ("from calc.core import add", False),
    ],
    ids=str,
)
def test_what_code_imports_and_the_tree_lacks_is_made_by_the_build(
    tmp_path: Path, line: str, made: bool
) -> None:
    (tmp_path / "src/calc").mkdir(parents=True)
    (tmp_path / "src/calc/core.py").write_text("")
    (tmp_path / "src/calc/__init__.py").write_text(f"{line}\n")
    assert is_made_by_build("calc._speed", tmp_path, ["src/calc/__init__.py"]) is made
    assert not is_made_by_build("calc.core", tmp_path, ["src/calc/__init__.py"])
    assert not is_made_by_build("gone._speed", tmp_path, ["src/calc/__init__.py"])


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


PROGRAM = "import sys\nimport unittest\n\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n"
PROGRAM += "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({}, id="no configuration"),
        pytest.param(
            {"pytest.ini": "[pytest]\nmarkers =\n    slow: takes long\n"}, id="one without a pattern"
        ),
    ],
)
@pytest.mark.parametrize(
    "place", ["test.py", "tests/test.py", "run_tests.py", "src/tests/tests.py", "calc/tests/smoke.py"]
)
async def test_the_one_test_file_that_is_a_program_is_run(
    context, config: dict[str, str], place: str
) -> None:
    base = {**CODE, place: PROGRAM, **config}
    assert (await judge(context(base, base), outside=False)).status == "passed"
    assert (await judge(context({**base, **WRONG}, base), outside=False)).status == "failed"
    without = {name: text for name, text in base.items() if name != place}
    lost = await judge(context({**without, **WRONG}, base), outside=False)
    assert lost.status == "failed"


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


async def test_a_test_file_that_only_imports_the_tests_of_others_judges(context) -> None:
    config = {"pytest.ini": "[pytest]\npython_files = __main__.py\n"}
    gathered = {"tests/__init__.py": "", "tests/__main__.py": "from tests.test_calc import *\n"}
    base = {**CODE, **TEST, **gathered, **config}
    right = await judge(context({**base, "more.py": ""}, base), outside=False)
    assert (right.status, right.metadata["self_written_only"]) == ("passed", False), right.feedback
    wrong = await judge(context({**base, **WRONG}, base), outside=False)
    assert (wrong.status, wrong.metadata["failing"]) == ("failed", ["tests/__main__.py::test_add"])


BY_DATA = """
from pathlib import Path

import pytest

from calc import add

ROWS = [line.split() for line in Path(__file__).with_name("rows.txt").read_text().splitlines()]


@pytest.mark.parametrize(("one", "two", "total"), ROWS)
def test_rows(one, two, total):
    assert add(int(one), int(two)) == int(total)
"""


async def test_changed_data_of_a_test_named_by_it_is_a_question(context) -> None:
    base = {**CODE, **TEST, "tests/test_rows.py": BY_DATA, "tests/rows.txt": "1 1 2\n2 2 4\n"}
    changed = {"calc/__init__.py": "def add(a, b):\n    return a + b if a == 1 else 5\n"}
    asked = await judge(context({**base, **changed, "tests/rows.txt": "1 1 2\n2 2 5\n"}, base), outside=False)
    assert (asked.status, len(asked.questions)) == ("failed", 1)
    assert "tests/rows.txt" in asked.questions[0].text
    refused = await judge(
        context({**base, **changed, "tests/rows.txt": "1 1 2\n2 2 6\n"}, base), outside=False
    )
    assert (refused.status, refused.questions) == ("failed", [])


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


INHERITED = {
    "tests/__init__.py": "",
    "tests/test_base.py": (
        "from calc import add\n\n\nclass TestAdd:\n    def test_add(self):\n        assert add(1, 2) == 3\n"
    ),
    "tests/test_more.py": (
        "from tests.test_base import TestAdd as Base\n\n\nclass TestMore(Base):\n"
        "    def test_nothing(self):\n        assert True\n"
    ),
}


async def test_a_test_inherited_from_a_changed_file_is_the_same_question(context) -> None:
    base = {**CODE, **INHERITED}
    changed = {
        **base,
        **WRONG,
        "tests/test_base.py": INHERITED["tests/test_base.py"].replace("== 3", "== -1"),
    }
    result = await judge(context(changed, base), outside=False)
    asked = {each["id"] for each in result.metadata["questions"]}
    assert {"tests/test_base.py::TestAdd::test_add", "tests/test_more.py::TestMore::test_add"} <= asked
    broken = {
        **changed,
        "tests/test_more.py": INHERITED["tests/test_more.py"].replace("assert True", "assert 0"),
    }
    assert not (await judge(context(broken, base), outside=False)).metadata.get("questions")


HELPED = {
    "tests/__init__.py": "",
    "tests/helper.py": "from calc import OldWarning\n\nWANTED = 3\n",
    "tests/test_one.py": (
        "from calc import add\nfrom tests.helper import WANTED\n\n\ndef test_one():\n"
        "    assert add(1, 2) == WANTED\n"
    ),
    "tests/test_two.py": (
        "from calc import add\nfrom tests.helper import WANTED\n\n\ndef test_two():\n"
        "    assert add(2, 1) == WANTED\n"
    ),
}


async def test_a_helper_that_keeps_every_test_from_loading_is_asked_about(context) -> None:
    base = {**CODE, **HELPED}
    without = {"calc/__init__.py": CODE["calc/__init__.py"].partition("\n\n\n")[2]}
    helper = {"tests/helper.py": "WANTED = 3\n"}
    more = {"tests/test_more.py": HELPED["tests/test_one.py"].replace("test_one", "test_more")}
    asked = await judge(context({**base, **without, **helper, **more}, base), outside=False)
    assert (asked.status, [each.id for each in asked.questions]) == ("failed", ["tests/helper.py"])
    assert "OldWarning" in asked.questions[0].before
    wrong = {"calc/__init__.py": without["calc/__init__.py"].replace("a + b", "a - b")}
    refused = await judge(context({**base, **wrong, **helper}, base), outside=False)
    assert (refused.status, refused.questions) == ("failed", [])


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


GIVEN = """
import time

from hypothesis import given, settings, strategies

from calc import add


@given(strategies.integers(0, 1))
def test_add(a):
    time.sleep(0.3)
    assert add(a, 1) == a + 1


@given(strategies.integers(0, 1))
@settings(deadline=50)
def test_quick(a):
    time.sleep(SECONDS)
    assert add(a, 1) == a + 1
"""


@pytest.mark.parametrize(("deadline", "passes"), [("None", True), ("50", False)])
async def test_hypothesis_measures_time_only_where_a_test_says_so(context, deadline: str, passes) -> None:
    test = GIVEN.replace("deadline=50", f"deadline={deadline}").replace("SECONDS", "0.3")
    base = {**CODE, "tests/test_given.py": test}
    result = await judge(context({**base, "b.py": ""}, base), outside=False)
    assert (result.status == "passed") is passes, result.feedback


async def test_a_changed_file_that_the_base_cannot_read_either_is_counted_once(context) -> None:
    test = (
        "from pathlib import Path\n\nROWS = Path(__file__).with_name('submodule').read_text()\n\n\n"
        "def test_rows():\n    assert ROWS\n"
    )
    base = {**CODE, **TEST, "tests/test_rows.py": test}
    changed = {"tests/test_rows.py": f"{test}\n\ndef test_more_rows():\n    assert len(ROWS) > 1\n"}
    made = context({**base, **changed, "b.py": ""}, base)
    result = await judge({**made, "goal": "Drop support for Python 3.8"}, outside=False)
    assert [each.id for each in result.questions] == ["tests/test_rows.py"], result.feedback


FEW = {
    "pytest.ini": "[pytest]\naddopts = --hypothesis-profile=few\n",
    "tests/conftest.py": (
        "from hypothesis import settings\n\nsettings.register_profile('few', max_examples=3, deadline=None)\n"
    ),
    "tests/test_few.py": (
        "from hypothesis import given, strategies\n\nfrom calc import add\n\nTRIED = []\n\n\n"
        "@given(strategies.integers())\ndef test_add(a):\n"
        "    TRIED.append(a)\n    assert add(a, 1) == a + 1\n\n\n"
        "def test_few():\n    assert 1 <= len(TRIED) <= 3\n"
    ),
}


async def test_the_profile_of_hypothesis_that_the_base_configures_holds(context) -> None:
    base = {**CODE, **FEW}
    assert (await judge(context({**base, "b.py": ""}, base))).status == "passed"
    more = {"pytest.ini": "[pytest]\n", "tests/conftest.py": ""}
    result = await judge(context({**base, **more, **WRONG}, base))
    assert result.status == "failed"
    assert "tests/test_few.py::test_add" in result.metadata["failing"]


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


FOUND_FILES = """import glob
import os

import pytest

from calc import add

FILES = glob.glob(os.path.join(os.path.dirname(__file__), "*.txt"))


@pytest.mark.parametrize("file", FILES)
def test_sum(file):
    with open(file) as opened:
        one, two, total = map(int, opened.read().split())
    if total < 0:
        pytest.skip("no negative sums yet")
    assert add(one, two) == total
"""


async def test_parameters_that_are_found_files_are_the_same_tests_in_every_run(context) -> None:
    data = {"tests/1.txt": "1 2 3\n", "tests/2.txt": "1 -9 -8\n"}
    base = {**CODE, **data, "tests/test_files.py": FOUND_FILES}
    passed = await judge(context(base, base))
    assert passed.status == "passed", passed.feedback
    failed = await judge(context({**base, **WRONG}, base))
    assert "Fix tests/test_files.py::test_sum[tests/1.txt]" in failed.suggestions[0]


@pytest.mark.parametrize(("command", "name"), [("python -m pytest", "__main__.py"), ("pytest", "pytest")])
async def test_the_program_has_the_name_that_the_projects_commands_give_it(context, command, name) -> None:
    code = "import os\nimport sys\n\n\ndef program():\n    return os.path.basename(sys.argv[0])\n"
    test = f"from prog import program\n\n\ndef test_program():\n    assert program() == {name!r}\n"
    base = {"prog.py": code, "tests/test_prog.py": test, "Makefile": f"test:\n\t{command}\n"}
    passed = await judge(context({**base, "b.py": "X = 1\n"}, base))
    assert passed.status == "passed", passed.feedback


async def test_only_the_directories_that_the_projects_commands_name_have_tests(context) -> None:
    demo = "import service_that_is_not_here\n\n\ndef test_demo():\n    assert False\n"
    base = {**CODE, "Makefile": "test:\n\tpytest tests -v\n", "demos/test_demo.py": demo}
    base["tests/test_calc.py"] = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    passed = await judge(context({**base, "b.py": "X = 1\n"}, base))
    assert (passed.status, passed.questions) == ("passed", []), passed.feedback
    assert "test_demo" not in passed.feedback
    failed = await judge(context({**base, **WRONG}, base))
    assert failed.metadata["failing"] == ["tests/test_calc.py::test_add"]
