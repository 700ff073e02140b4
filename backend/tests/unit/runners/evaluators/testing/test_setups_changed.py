"""Changed data, bases and helpers of tests are questions, not failed attempts."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import TEST, judge
from tests.unit.runners.evaluators.testing.setups_support import CODE, WRONG

pytestmark = pytest.mark.anyio


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
