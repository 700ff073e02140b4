"""Settings of pytest and its plug-ins that people use, each beside an attempt to misuse the same way."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import TEST, judge
from tests.unit.runners.evaluators.testing.setups_support import CODE, WRONG

pytestmark = pytest.mark.anyio


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


async def test_a_test_file_that_only_imports_the_tests_of_others_judges(context) -> None:
    config = {"pytest.ini": "[pytest]\npython_files = __main__.py\n"}
    gathered = {"tests/__init__.py": "", "tests/__main__.py": "from tests.test_calc import *\n"}
    base = {**CODE, **TEST, **gathered, **config}
    right = await judge(context({**base, "more.py": ""}, base), outside=False)
    assert (right.status, right.metadata["self_written_only"]) == ("passed", False), right.feedback
    wrong = await judge(context({**base, **WRONG}, base), outside=False)
    assert (wrong.status, wrong.metadata["failing"]) == ("failed", ["tests/__main__.py::test_add"])


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
