"""What the test gate asks where tests pass only with changed helpers, fixtures or data."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import HALVES, THREE, run

pytestmark = pytest.mark.anyio


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
