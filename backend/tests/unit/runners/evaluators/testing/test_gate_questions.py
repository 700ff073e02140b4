"""Which failures of the test gate are questions to a person, and which of them count."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import BaseFailures, ProtectedPolicy
from tests.unit.runners.evaluators.testing.gate_support import run

pytestmark = pytest.mark.anyio

THREE = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef half(n):\n    return n // 2\n",
    "tests/test_calc.py": (
        "from calc import add, half\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "def test_half():\n    assert half(5) == 2\n"
    ),
}
SKIPPED = {
    "tests/test_calc.py": "import pytest\npytestmark = pytest.mark.skip\n" + THREE["tests/test_calc.py"]
}
HALVES = {
    "calc.py": THREE["calc.py"].replace("// 2", "/ 2"),
    "tests/test_calc.py": THREE["tests/test_calc.py"].replace("== 2\n", "== 2.5\n"),
}


@pytest.mark.parametrize(
    ("policy", "status", "asked"),
    [("ask", "failed", ["tests/test_calc.py::test_half"]), ("fail", "failed", []), ("note", "passed", [])],
)
async def test_a_test_that_was_changed_with_the_code_is_one_question(context, policy, status, asked) -> None:
    made = {**context(HALVES, THREE), "protected_policy": ProtectedPolicy(policy)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert (result.status, [each.id for each in result.questions]) == (status, asked), result.feedback
    if asked:
        assert "now expects `2.5` where it was `2`" in result.questions[0].text
        assert "the base's version fails" in result.questions[0].why


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"tests/test_calc.py": THREE["tests/test_calc.py"]}, id="the test is as it was"),
        pytest.param({"tests/test_calc.py": HALVES["tests/test_calc.py"] + "    assert 0\n"}, id="it fails"),
        pytest.param(
            {
                "tests/test_calc.py": "import pytest\npytestmark = pytest.mark.skip\n"
                + THREE["tests/test_calc.py"]
            },
            id="it is skipped",
        ),
        pytest.param(
            {"calc.py": "def add(a, b):\n    return 3\n\n\ndef half(n):\n    return 9\n"},
            id="no version passes",
        ),
        pytest.param({"calc.py": HALVES["calc.py"].replace("a + b", "a - b")}, id="another test fails"),
    ],
)
async def test_what_no_changed_test_explains_stays_a_failure(context, changes) -> None:
    result = await run(context, {**HALVES, **changes}, THREE, outside=False)
    assert (result.status, result.questions) == ("failed", [])


STRICT = {**THREE, "pytest.ini": "[pytest]\nfilterwarnings =\n    error\n"}
WARNS = (
    "import warnings\n\n\ndef half(n):\n    warnings.warn('half() becomes halve()', {kind})\n"
    "    return n // 2\n"
)
EXEMPT = "[pytest]\nfilterwarnings =\n    error\n    ignore:half.. becomes:DeprecationWarning\n"


@pytest.mark.parametrize(
    ("configuration", "kind", "is_asked"),
    [
        pytest.param(EXEMPT, "DeprecationWarning", True, id="its own warning is exempt"),
        pytest.param(EXEMPT, "UserWarning", False, id="the tests fail with the change, too"),
        pytest.param(STRICT["pytest.ini"], "DeprecationWarning", False, id="nothing is exempt"),
        pytest.param(
            f"{EXEMPT}addopts = -k add\n", "DeprecationWarning", False, id="another option is changed, too"
        ),
    ],
)
async def test_tests_that_pass_only_with_more_warnings_filtered_are_one_question(
    context, configuration, kind, is_asked
) -> None:
    changed = THREE["calc.py"].partition("\n\n\ndef half")[0] + "\n\n\n" + WARNS.format(kind=kind)
    made = {**STRICT, "calc.py": changed, "pytest.ini": configuration}
    result = await run(context, made, STRICT, outside=False)
    assert result.status == "failed"
    assert [each.id for each in result.questions] == (["pytest.ini"] if is_asked else []), result.feedback
    if is_asked:
        assert "only with the changed `filterwarnings`" in result.questions[0].text
        assert "ignore:half.. becomes" in result.questions[0].after


LOADED = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef dead():\n    return 1\n",
    "tests/test_ok.py": "def test_ok(): ...\n",
    "tests/test_calc.py": (
        "import pytest\n\nfrom calc import add, dead\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "@pytest.mark.skip\ndef test_elsewhere(): ...\n\n\ndef test_dead():\n    assert dead() == 1\n"
    ),
}


@pytest.mark.parametrize(
    ("test", "asked"),
    [
        pytest.param("    assert add(1, 2) == 3\n", True, id="one test is skipped, as before"),
        pytest.param("    pytest.skip()\n", False, id="all tests are skipped"),
        pytest.param("    assert add(1, 2) == 4\n", False, id="one test fails"),
    ],
)
async def test_a_test_file_that_no_longer_loads_is_asked_about(context, test: str, asked: bool) -> None:
    text = LOADED["tests/test_calc.py"].partition("\n\n\ndef test_dead")[0].replace(", dead", "")
    text = text.replace("    assert add(1, 2) == 3\n", test)
    files = {
        **LOADED,
        "calc.py": LOADED["calc.py"].partition("\n\n\ndef dead")[0],
        "tests/test_calc.py": text,
    }
    result = await run(context, files, LOADED, outside=False)
    assert result.status == "failed"
    assert [each.id for each in result.questions] == (["tests/test_calc.py"] if asked else []), (
        result.feedback
    )


async def test_a_changed_fixture_is_asked_about_with_the_test_that_needs_it(context) -> None:
    conftest = "import pytest\n\n\n@pytest.fixture\ndef five():\n    return 5\n"
    test = "from calc import half\n\n\ndef test_half(five):\n    assert half(five) == 2\n"
    test += "\n\ndef test_ok(): ...\n"
    base = {"calc.py": THREE["calc.py"], "tests/conftest.py": conftest, "tests/test_calc.py": test}
    files = {**base, "calc.py": HALVES["calc.py"], "tests/conftest.py": conftest.replace("5", "4")}
    result = await run(context, files, base, outside=False)
    (asked,) = result.questions
    assert asked.id == "tests/test_calc.py::test_half"
    assert "tests/conftest.py::five" in asked.text
    assert ("return 5" in asked.before, "return 4" in asked.after) == (True, True)


RED = {
    **THREE,
    "tests/test_red.py": (
        "import subprocess\n\nfrom calc import add\n\n\ndef test_program():\n"
        "    subprocess.run(['no-such-program-here'], check=True)\n\n\n"
        "def test_own():\n    assert add(1, 1) == 3\n"
    ),
}


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


COLLECTS_DATA = """\
import pytest
from calc import add


class Sum(pytest.Item):
    def runtest(self):
        one, other, wanted = map(int, self.path.read_text().split())
        assert add(one, other) == wanted


class Sums(pytest.File):
    def collect(self):
        yield Sum.from_parent(self, name="")


def pytest_collect_file(parent, file_path):
    return Sums.from_parent(parent, path=file_path) if file_path.suffix == ".sum" else None
"""


async def test_a_changed_data_file_that_is_itself_a_test_is_one_question(context) -> None:
    base = {**THREE, "tests/conftest.py": COLLECTS_DATA, "tests/a.sum": "1 2 3\n"}
    changed = {
        **base,
        "tests/a.sum": "1 2 4\n",
        "calc.py": THREE["calc.py"].replace("a + b", "a + b + (b == 2)"),
    }
    changed["tests/test_calc.py"] = THREE["tests/test_calc.py"]
    base["tests/test_calc.py"] = changed["tests/test_calc.py"] = (
        "from calc import half\n\n\ndef test_half():\n    assert half(5) == 2\n"
    )
    result = await run(context, changed, base, outside=False)
    assert [each.id for each in result.questions] == ["tests/a.sum::"]
    assert (result.questions[0].before.strip(), result.questions[0].after.strip()) == ("1 2 3", "1 2 4")


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


SHARES_A_HELPER = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef native(text):\n    return text\n",
    "tests/helper.py": "from calc import add, native\n\nONE = native('1')\n",
    "tests/test_one.py": "from helper import ONE, add\n\ndef test_one():\n    assert add(ONE, '2') == '12'\n",
    "tests/test_two.py": "from helper import ONE, add\n\ndef test_two():\n    assert add(2, 3) == 5\n",
    "tests/test_optional.py": "import pytest\npytest.importorskip('numpyx')\nfrom helper import ONE\n",
}
WITHOUT_NATIVE = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/helper.py": "from calc import add\n\nONE = '1'\n",
}


async def test_files_that_load_only_with_a_changed_helper_are_one_question(context) -> None:
    result = await run(context, {**SHARES_A_HELPER, **WITHOUT_NATIVE}, SHARES_A_HELPER)
    assert [each.id for each in result.questions] == ["tests/helper.py"], result.feedback
    assert "test files load only with" in result.questions[0].text
    assert "native('1')" in result.questions[0].before


@pytest.mark.parametrize("lost", ["", "\n\ndef test_native():\n    assert native('2') == '2'\n"])
async def test_a_helper_that_is_named_like_tests_may_change_unless_tests_go_with_it(
    context, lost: str
) -> None:
    base, changes = (
        {
            name.replace("helper", "test_helper"): text.replace("from helper", "from test_helper")
            for name, text in files.items()
        }
        for files in (SHARES_A_HELPER, WITHOUT_NATIVE)
    )
    base["tests/test_helper.py"] += lost
    result = await run(context, {**base, **changes}, base, outside=False)
    asked = [] if lost else ["tests/test_helper.py", "tests/test_helper.py"]
    assert (result.status, [each.id for each in result.questions]) == ("failed", asked), result.feedback


@pytest.mark.parametrize("name", ["TestAdd", "TestPlus"])
async def test_a_test_class_that_got_another_name_with_the_code_is_one_question(context, name: str) -> None:
    test = "import calc\n\nclass TestAdd:\n    def test_it(self):\n        assert calc.add(1, 2) == 3\n"
    base = {
        "calc.py": "def add(a, b):\n    return a + b\n",
        "tests/test_calc.py": test,
        "tests/test_ok.py": "def test_ok(): ...\n",
    }
    renamed = {each: text.replace("add(", "plus(") for each, text in base.items()}
    renamed["tests/test_calc.py"] = renamed["tests/test_calc.py"].replace("TestAdd", name)
    result = await run(context, renamed, base, outside=False)
    assert [each.id.partition("::test_")[0] for each in result.questions] == ["tests/test_calc.py::TestAdd"]


MESSAGE_IN_A_HELPER = {
    "calc.py": "def add(a, b):\n    raise ValueError('no addition')\n\n\ndef half(x):\n    return x / 2\n",
    "tests/words.py": "class Words:\n    REFUSED = 'no addition'\n",
    "tests/test_add.py": "import pytest\nfrom calc import add, half\nfrom words import Words\n\n\n"
    "class TestAdd:\n    def test_add_refuses(self):\n        with pytest.raises(ValueError) as caught:\n"
    "            add(1, 2)\n        assert str(caught.value) == Words.REFUSED\n\n"
    "    def test_half(self):\n        assert half(4) == 2\n",
}


@pytest.mark.parametrize("expected", ["REFUSED", "REFUSED[:2]"])
async def test_a_test_that_was_only_renamed_beside_a_changed_helper_is_asked_about(
    context, expected: str
) -> None:
    base = MESSAGE_IN_A_HELPER
    changed = {name: text.replace("no addition", "not that") for name, text in base.items()}
    test = changed["tests/test_add.py"].replace("test_add_refuses", "test_error_of_add")
    changed["tests/test_add.py"] = test.replace("REFUSED", expected)
    result = await run(context, changed, base, outside=False)
    is_asked = "Words" in " ".join(each.text for each in result.questions)
    assert is_asked is (expected == "REFUSED"), result.feedback


MOCK_IN_A_TEST_FILE = {
    "client.py": "def leave(device):\n    device.close()\n    return True\n",
    "tests/test_leave.py": "from client import leave\n\n\n"
    "class Device:\n    def close(self):\n        ...\n\n\n"
    "def test_leave():\n    assert leave(Device())\n\n\ndef test_nothing():\n    assert True\n",
}


@pytest.mark.parametrize(("method", "asked"), [("disconnect", True), ("detach", False)])
async def test_a_test_that_passes_only_with_a_further_method_of_its_mock_is_a_question(
    context, method: str, asked: bool
) -> None:
    base = MOCK_IN_A_TEST_FILE
    changed = {
        "client.py": base["client.py"].replace("close", "disconnect"),
        "tests/test_leave.py": base["tests/test_leave.py"].replace(
            "        ...\n", f"        ...\n\n    def {method}(self):\n        ...\n", 1
        ),
    }
    result = await run(context, changed, base, outside=False)
    texts = [
        "`tests/test_leave.py::test_leave` passes only with the changed `tests/test_leave.py`: "
        "does the goal say so?"
    ]
    assert [each.text for each in result.questions] == (texts if asked else []), result.feedback
    assert result.status == "failed"


ROWS_OF_DATA = {
    "calc.py": "def double(x):\n    return x + x\n",
    "tests/rows.json": '{"a": 2, "b": 4, "c": 6}',
    "tests/test_rows.py": "import json\nfrom pathlib import Path\n\nimport pytest\nfrom calc import double\n"
    "ROWS = json.loads(Path(__file__).with_name('rows.json').read_text())\n\n\n"
    "@pytest.mark.parametrize('name', ['a', 'b', 'c'])\ndef test_row(name):\n"
    "    assert double('abc'.index(name) + 1) == ROWS[name]\n\n\n"
    "def test_kind():\n    assert isinstance(double(1), int)\n",
}


async def test_tests_that_pass_only_with_the_same_changed_data_are_one_question(context) -> None:
    changed = {
        "calc.py": "def double(x):\n    return x + x + 1\n",
        "tests/rows.json": '{"a": 3, "b": 5, "c": 7}',
    }
    result = await run(context, {**ROWS_OF_DATA, **changed}, ROWS_OF_DATA, outside=False)
    assert len(result.questions) == 1, result.feedback
    question = result.questions[0]
    assert question.text == (
        "`tests/test_rows.py::test_row[a]` and 2 more pass only with the changed `tests/rows.json`: "
        "does the goal say so?"
    )
    # An acceptance covers these tests, and no other one.
    fewer = {**ROWS_OF_DATA, "tests/test_rows.py": ROWS_OF_DATA["tests/test_rows.py"].replace(", 'c'", "")}
    result = await run(context, {**fewer, **changed}, fewer, outside=False)
    assert result.questions[0].key != question.key


LOADED_BESIDE = {
    "calc.py": "def half(x):\n    return x / 2\n",
    "helpers.py": "",
    "tests/test_a.py": "import helpers\n\nhelpers.TWO = 2\n\n\ndef test_two():\n    assert helpers.TWO\n",
    "tests/test_b.py": "import helpers\nfrom calc import half\n\n\n"
    "def test_half():\n    assert half(helpers.TWO) == 1\n",
}


@pytest.mark.parametrize(("wanted", "status"), [("1.0", "passed"), ("2.0", "failed")])
async def test_a_changed_file_that_relies_on_another_one_runs_among_all_tests(
    context, wanted, status
) -> None:
    more = f"\n\ndef test_more():\n    assert half(helpers.TWO) == {wanted}\n"
    changed = {**LOADED_BESIDE, "tests/test_b.py": LOADED_BESIDE["tests/test_b.py"] + more}
    result = await run(context, changed, LOADED_BESIDE, outside=False)
    assert (result.status, result.questions) == (status, []), result.feedback


RAN_BEFORE = {
    **LOADED_BESIDE,
    "tests/test_a.py": "import helpers\n\n\ndef test_two():\n    helpers.TWO = 2\n",
}


@pytest.mark.parametrize(("half", "status"), [("x / 2", "passed"), ("x", "failed")])
async def test_an_unchanged_test_that_relies_on_tests_before_it_runs_after_them(
    context, half, status
) -> None:
    more = "\n\ndef test_more():\n    assert half(8) == 4\n"
    changed = {
        "calc.py": f"def half(x):\n    return {half}\n",
        "tests/test_b.py": RAN_BEFORE["tests/test_b.py"] + more,
    }
    result = await run(context, {**RAN_BEFORE, **changed}, RAN_BEFORE, outside=False)
    assert (result.status, result.questions) == (status, []), result.feedback


@pytest.mark.parametrize(
    ("mark", "asked"),
    [("skipif(sys.version_info >= (3, 8), reason='old')", True), ("skip", False), ("xfail", False)],
)
async def test_a_test_that_now_runs_only_on_other_versions_is_a_question(context, mark, asked) -> None:
    changed = HALVES["tests/test_calc.py"].replace("== 2.5", "== 2")
    changed = changed.replace("def test_half", f"@pytest.mark.{mark}\ndef test_half")
    files = {**HALVES, "tests/test_calc.py": f"import sys\n\nimport pytest\n{changed}"}
    result = await run(context, files, THREE, outside=False)
    found = [(each.id, "does not run here" in each.why) for each in result.questions]
    assert (result.status, found) == ("failed", [("tests/test_calc.py::test_half", True)] if asked else [])


EVERY_RULE_HAS_A_CASE = {
    "calc.py": "RULES = ['one']\n",
    "tests/cases/one.txt": "1",
    "tests/test_rules.py": "from pathlib import Path\n\nimport calc\n\n\ndef test_cases():\n"
    "    cases = Path(__file__).with_name('cases').iterdir()\n"
    "    assert sorted(each.stem for each in cases) == sorted(calc.RULES)\n\n\n"
    "def test_any():\n    assert calc.RULES\n",
}


async def test_a_test_that_passes_only_with_added_data_is_a_question(context) -> None:
    more = {"calc.py": "RULES = ['one', 'two']\n"}
    base = EVERY_RULE_HAS_A_CASE
    result = await run(context, {**base, **more, "tests/cases/two.txt": "2"}, base, outside=False)
    assert [each.text for each in result.questions] == [
        "`tests/test_rules.py::test_cases` passes only with the added `tests/cases/two.txt`: "
        "does the goal say so?"
    ], result.feedback
    assert (result.questions[0].before, result.questions[0].after) == ("", "2")
    wrong = await run(context, {**base, **more, "tests/cases/three.txt": "3"}, base, outside=False)
    assert (wrong.status, wrong.questions) == ("failed", [])


async def test_files_that_do_not_load_with_the_changed_helper_either_fail(context) -> None:
    broken = {**WITHOUT_NATIVE, "tests/helper.py": "from calc import add\n"}
    result = await run(context, {**SHARES_A_HELPER, **broken}, SHARES_A_HELPER)
    assert (result.status, result.questions) == ("failed", [])


ROWS = {
    "calc.py": "NAMES = ['add', 'half', 'twice']\n\n\ndef known(name):\n    return name in NAMES\n",
    "tests/test_names.py": (
        "import pytest\n\nimport calc\n\n\n@pytest.mark.parametrize('name', calc.NAMES)\n"
        "def test_known(name):\n    assert calc.known(name)\n\n\n"
        "@pytest.mark.parametrize('number', range(len(calc.NAMES)))\n"
        "def test_number(number):\n    assert calc.known(calc.NAMES[number])\n"
    ),
}
FEWER = {**ROWS, "calc.py": ROWS["calc.py"].replace(", 'half'", "")}


@pytest.mark.parametrize(("policy", "asked"), [("ask", True), ("note", True), ("fail", False)])
async def test_rows_that_the_code_no_longer_has_are_one_question_for_each_test(
    context, policy, asked
) -> None:
    made = {**context(FEWER, ROWS), "protected_policy": ProtectedPolicy(policy)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    ids = ["tests/test_names.py::test_known", "tests/test_names.py::test_number"] if asked else []
    assert (result.status, [each.id for each in result.questions]) == ("failed", ids), result.feedback
    lost = ["tests/test_names.py::test_known[half]", "tests/test_names.py::test_number[2]"]
    assert result.metadata["lost_tests"] == lost
    if asked:
        assert "`test_known` no longer runs" in result.questions[0].text.replace("tests/test_names.py::", "")
        assert "`[half]`" in result.questions[0].text


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("NAMES = []\n\n\ndef known(name):\n    return name in NAMES\n", id="no row is left"),
        pytest.param(
            "NAMES = ['add', 'half']\n\n\ndef known(name):\n    return name == 'add'\n", id="one fails"
        ),
        pytest.param(
            "NAMES = ['add', 'half']\n\n\ndef known(name):\n    import pytest\n    name == 'half' and "
            "pytest.skip()\n    return True\n",
            id="one is skipped",
        ),
    ],
)
async def test_lost_rows_beside_other_trouble_are_lost_tests(context, code) -> None:
    result = await run(context, {**ROWS, "calc.py": code}, ROWS, outside=False)
    assert (result.status, result.questions) == ("failed", [])
    assert result.metadata["lost_tests"]


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


SKIPPED_ROW = (
    "import pytest\n\nfrom calc import half\n\n\n"
    "@pytest.mark.parametrize('n, expected', [(4, 2), pytest.param(6, 3, marks=MARK), (5, 2)])\n"
    "def test_half(n, expected):\n    assert half(n) == expected\n"
).replace("MARK", "pytest.mark.skip")


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        pytest.param("(7, 3.5)", True, id="the others pass or are skipped as before"),
        pytest.param("(7, 3)", False, id="another row fails"),
    ],
)
async def test_a_row_that_was_replaced_is_one_question_where_its_neighbours_hold(
    context, rows, asked
) -> None:
    base = {**THREE, "tests/test_rows.py": SKIPPED_ROW}
    changed = {**HALVES, "tests/test_rows.py": SKIPPED_ROW.replace("(5, 2)", rows)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", context({**base, **changed}, base))
    found = [each.id for each in result.questions]
    expected = ["tests/test_calc.py::test_half", "tests/test_rows.py::test_half"] if asked else []
    assert sorted(found) == expected, result.feedback


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


@pytest.mark.parametrize(
    ("imported", "asked"),
    [
        pytest.param("from {0} import add", "3 test files load with this code only in", id="a name"),
        pytest.param(
            "try:\n    from {0} import add\nfinally:\n    pass",
            "`tests/test_a.py` a statement was added, and so in 2 more: does the goal say so?",
            id="a statement",
        ),
    ],
)
async def test_files_that_load_only_in_their_changed_versions_are_one_question(
    context, imported: str, asked: str
) -> None:
    code = "def add(a, b):\n    return a + b\n"
    test = imported + "\n\n\ndef test_{1}():\n    assert add(1, 2) == 3\n"
    base = {"calc.py": code, **{f"tests/test_{each}.py": test.format("calc", each) for each in "abc"}}
    named = {"sums.py": code, **{f"tests/test_{each}.py": test.format("sums", each) for each in "abc"}}
    result = await run(context, named, base, outside=False)
    (question,) = result.questions
    assert question.text.startswith(asked)
    assert "sums" in question.after
    assert "sums" not in question.before
