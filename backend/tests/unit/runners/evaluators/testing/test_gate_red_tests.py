"""Which tests that failed at the base count, and which the test gate asks about."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import BaseFailures
from tests.unit.runners.evaluators.testing.gate_support import THREE, run

pytestmark = pytest.mark.anyio

RED = {
    **THREE,
    "tests/test_red.py": (
        "import subprocess\n\nfrom calc import add\n\n\ndef test_program():\n"
        "    subprocess.run(['no-such-program-here'], check=True)\n\n\n"
        "def test_own():\n    assert add(1, 1) == 3\n"
    ),
}


SKIPPING = """import unittest

from calc import add


class TestMore(unittest.TestCase):
    def test_more(self):
        self.assertEqual(add(2, 2, more=1), 5)
        self.skipTest("no printer")
"""


GENEROUS = "def add(a, b, more=0):\n    return a + b + more\n"


@pytest.mark.parametrize(
    ("code", "status", "asked"),
    [
        pytest.param(GENEROUS, "failed", True, id="gets further"),
        pytest.param(
            "def add(a, b, more=0):\n    return a + b - more\n", "failed", False, id="fails in another way"
        ),
    ],
)
async def test_a_red_test_that_is_skipped_now_is_a_question(
    context, code: str, status: str, asked: bool
) -> None:
    base = {**THREE, "tests/test_more.py": SKIPPING}
    half = THREE["calc.py"].partition("def half")[2]
    result = await run(context, {**base, "calc.py": f"{code}\n\ndef half{half}"}, base, outside=False)
    assert result.status == status
    texts = [each.text for each in result.questions]
    name = "tests/test_more.py::TestMore::test_more"
    assert texts == ([f"`{name}` failed at the base and is skipped now: may that be?"] if asked else [])
    refused = await run(
        context, {**base, "calc.py": f"{code}\n\ndef half{half}"}, base, outside=False, protected="fail"
    )
    assert (refused.status, refused.questions) == ("failed", [])


async def test_red_tests_of_which_most_are_skipped_now_are_no_question(context) -> None:
    base = {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_more.py": SKIPPING}
    result = await run(context, {**base, "calc.py": GENEROUS}, base, outside=False)
    assert (result.status, result.questions) == ("failed", [])


async def test_tests_that_lack_a_program_at_base_do_not_count_and_are_told(context) -> None:
    base = {**RED, "tests/test_red.py": RED["tests/test_red.py"].partition("def test_own")[0]}
    result = await run(context, base, base, outside=False)
    assert result.status == "passed", result.feedback
    assert "1 failing test of the base did not count: tests/test_red.py::test_program" in result.feedback
    assert list(result.metadata["red_at_base"]) == ["tests/test_red.py::test_program"]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param({}, "failed", id="the project's own code"),
        pytest.param({"base_failures": BaseFailures.IGNORE}, "passed", id="ignore"),
        pytest.param({"base_failures": BaseFailures.MUST_PASS}, "failed", id="must pass"),
        pytest.param({"goal_tests": ["*::test_add"]}, "passed", id="another one is the goal"),
        pytest.param({"goal_tests": ["*::test_own"]}, "failed", id="named"),
        pytest.param({"goal_tests": ["*"]}, "failed", id="all named"),
        pytest.param({"known_failures": ["*::test_own"]}, "passed", id="known"),
        pytest.param({"known_failures": ["*::test_add"]}, "failed", id="another one is known"),
        pytest.param(
            {"goal": "Make test_red.py pass", "goal_tests": ["x"]}, "failed", id="the goal names its file"
        ),
    ],
)
async def test_which_red_tests_count(context, given, status: str) -> None:
    result = await PytestEvaluator(outside=False).evaluate("coding", "", {**context(RED, RED), **given})
    assert result.status == status, result.feedback


async def test_a_stable_pass_must_keep_passing_beside_red_ones(context) -> None:
    broken = {**RED, "calc.py": RED["calc.py"].replace("a + b", "a - b")}
    made = {**context(broken, RED), "base_failures": BaseFailures.IGNORE}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert (result.status, result.metadata["failing"]) == ("failed", ["tests/test_calc.py::test_add"])


async def test_a_failure_outside_the_projects_code_is_asked_about(context) -> None:
    red = "import ipaddress\n\n\ndef test_ip():\n    ipaddress.ip_address('1:9999999')\n"
    base = {**THREE, "tests/test_ip.py": red}
    result = await run(context, base, base, outside=False)
    assert [(each.id, each.kind) for each in result.questions] == [
        ("tests/test_ip.py::test_ip", "red_at_base")
    ]


async def test_red_tests_alone_are_no_evidence(context) -> None:
    base = {"tests/test_red.py": RED["tests/test_red.py"], "calc.py": RED["calc.py"]}
    made = {**context(base, base), "base_failures": BaseFailures.IGNORE}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert result.status != "passed"


async def test_a_red_test_of_the_projects_own_code_is_asked_about_whatever_was_changed(context) -> None:
    red = "def test_red():\n    assert [1] == [2]\n"
    base = {**THREE, "tests/test_red.py": red}
    changed = {**base, "other.py": "x = 1\n"}
    made = {**context(changed, base), "goal": "Write down a number"}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert [each.id for each in result.questions] == ["tests/test_red.py::test_red"]


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        pytest.param("'other'", False, id="always the same"),
        pytest.param("''.join(random.choices('qwrtz', k=12))", True, id="another one each time"),
    ],
)
async def test_a_red_test_that_fails_in_other_words_each_time_is_asked_about(context, answer, asked) -> None:
    base = {**THREE, "kind.py": "def kind():\n    return 'none'\n"}
    base["tests/test_kind.py"] = "from kind import kind\n\n\ndef test_kind():\n    assert kind() == 'full'\n"
    changed = {**base, "kind.py": f"import random\n\n\ndef kind():\n    return {answer}\n"}
    made = {**context(changed, base), "goal": "Write down a number"}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert not result.passed
    assert bool(result.questions) is asked, result.feedback


DOCTEST = {
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(0, 0) in (0, 3)\n",
    "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
    "calc.py": 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    4\n    """\n    return a + b\n',
}


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        pytest.param({}, True, id="as it was, further down"),
        pytest.param({"a + b": "a + b + 3"}, False, id="another result"),
    ],
)
async def test_a_doctest_that_was_red_before_is_compared_by_its_example(
    context, changes, asked: bool
) -> None:
    code = "import sys\n\nLIMIT = sys.maxsize\n\n\n" + DOCTEST["calc.py"].replace("Add.", "Return the sum.")
    for before, after in changes.items():
        code = code.replace(before, after)
    made = context({**DOCTEST, "calc.py": code}, DOCTEST)
    result = await PytestEvaluator(outside=False).evaluate("coding", "", {**made, "goal": "Name the limit"})
    assert [each.id for each in result.questions] == (["calc.py::calc.add"] if asked else []), result.feedback


OLD = {
    "calc.py": "HAS_DIVISION = True\n\n\ndef add(a, b):\n    return a + b\n",
    "tests/test_calc.py": (
        "import socket\n\nfrom calc import HAS_DIVISION, add\n\n\ndef test_add():\n"
        "    assert add(1, 2) == 3\n\n\ndef test_server():\n"
        "    socket.create_connection(('127.0.0.1', 9), 1)\n"
    ),
    "tests/test_other.py": "def test_other():\n    assert True\n",
}


async def test_a_version_of_a_red_test_is_in_doubt_where_the_bases_file_cannot_be_loaded(context) -> None:
    changed = {
        "calc.py": OLD["calc.py"].replace("HAS_DIVISION = True\n\n\n", ""),
        "tests/test_calc.py": OLD["tests/test_calc.py"].replace("HAS_DIVISION, ", ""),
    }
    result = await run(context, {**OLD, **changed}, OLD, outside=False)
    asked = {each.id for each in result.questions}
    assert "tests/test_calc.py::test_server" in asked, result.feedback
    worse = {**changed, "calc.py": "def add(a, b):\n    return 3 if a == 2 else 4\n"}
    assert not (await run(context, {**OLD, **worse}, OLD, outside=False)).questions


UNREAD = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": (
        "import teapot_not_there\nimport sys\n\nfrom calc import add\n\n\ndef test_add():\n"
        "    assert add(1, 2) == 3\n\n\ndef test_platform():\n    assert sys.platform == 'plan9'\n"
    ),
    "tests/test_other.py": "def test_other():\n    assert True\n",
}


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        pytest.param("", "", True, id="unchanged"),
        pytest.param("'plan9'", "'plan10'", False, id="changed"),
        pytest.param("def test_platform", "def test_new", False, id="new"),
    ],
)
async def test_an_old_test_that_only_now_loads_is_in_doubt_where_the_bases_code_fails_it(
    context, old: str, new: str, asked: bool
) -> None:
    text = UNREAD["tests/test_calc.py"].replace("import teapot_not_there\n", "").replace(old, new)
    result = await run(context, {**UNREAD, "tests/test_calc.py": text}, UNREAD, outside=False)
    assert not result.passed
    assert bool(result.questions) is asked, result.feedback
    if not asked:
        return
    worse = {**UNREAD, "tests/test_calc.py": text, "calc.py": "def add(a, b):\n    return a - b\n"}
    assert not (await run(context, worse, UNREAD, outside=False)).questions
