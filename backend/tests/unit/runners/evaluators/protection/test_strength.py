"""Which rewritten tests ask for as much as they did, where the base's versions judge the code."""

import pytest

from app.runners.evaluators.protection.questions import questions_about
from app.runners.evaluators.protection.strength import asks_for_as_much

BASE = """\
import pytest

from shop import total


def helper(one, two=2):
    return one + two


@pytest.mark.parametrize("prices, wanted", [([], 0), ([5], 5)])
def test_rows(prices, wanted):
    assert total(prices) == wanted


def test_total(basket):
    found = total(basket)
    assert found == 3
    with pytest.raises(ValueError):
        total(None)
"""


def asked(old: str, new: str) -> list[str]:
    assert old in BASE
    after = BASE.replace(old, new)
    found = questions_about("t/test_a.py", BASE.encode(), after.encode(), but=asks_for_as_much)
    return [each.id.partition("::")[2] for each in found]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            "    found = total(basket)\n    assert found == 3\n",
            "    with recorded():\n        found = total(basket)\n        assert found == 3\n",
            id="a block around it",
        ),
        pytest.param("assert found == 3", "assert total([4]) == 4", id="another value of the same call"),
        pytest.param(
            "assert found == 3", "assert found == len('abc')", id="an expectation without tested code"
        ),
        pytest.param("found == 3", "found == sys.maxsize - sys.maxsize + 3", id="of the standard library"),
        pytest.param(
            "pytest.raises(ValueError)", "pytest.raises(TypeError, match='x')", id="other exception"
        ),
        pytest.param("([5], 5)", "([6], 6)", id="another row of constants"),
        pytest.param("one, two=2", "one, /, two=2", id="positional only"),
        pytest.param("def test_total(basket)", "def test_total(tmp_path, basket)", id="another fixture"),
    ],
)
def test_a_rewritten_test_that_asks_for_as_much_is_no_question(old: str, new: str) -> None:
    assert asked(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        pytest.param("found == 3", "found in (3, 4)", "test_total", id="looser"),
        pytest.param("found == 3", "found", "test_total", id="truth"),
        pytest.param("found == 3", "found == total(basket)", "test_total", id="compared with the code"),
        pytest.param("found == 3", "found == found", "test_total", id="compared with itself"),
        pytest.param("assert found == 3", "assert 3 == 3", "test_total", id="constants"),
        pytest.param("found == 3", "found == 3 or True", "test_total", id="or"),
        pytest.param("assert found == 3", "x = 3\n    assert x == 3", "test_total", id="constants by name"),
        pytest.param(
            "found = total(basket)", "found = [3][0]", "test_total", id="still calls, but does not compare it"
        ),
        pytest.param(
            "assert found == 3", "if found:\n        assert found == 3", "test_total", id="conditional"
        ),
        pytest.param(
            "    assert found == 3", "    return\n    assert found == 3", "test_total", id="returns before"
        ),
        pytest.param(
            "    assert found == 3",
            "    try:\n        assert found == 3\n    except AssertionError: pass",
            "test_total",
            id="swallowed",
        ),
        pytest.param(
            "    assert found == 3",
            "    with pytest.raises(Exception):\n        assert found == 3",
            "test_total",
            id="expected to fail",
        ),
        pytest.param(
            "    assert found == 3",
            "    def later():\n        assert found == 3",
            "test_total",
            id="never called",
        ),
        pytest.param(
            "    assert found == 3",
            "    for _ in []:\n        assert found == 3",
            "test_total",
            id="an empty loop",
        ),
        pytest.param(
            "found = total(basket)",
            "mock.patch('shop.total').start()\n    found = total(basket)",
            "test_total",
            id="patched",
        ),
        pytest.param(
            "pytest.raises(ValueError)", "pytest.raises(Exception)", "test_total", id="any exception"
        ),
        pytest.param("([5], 5)", "([5], total([5]))", "test_rows", id="a row that asks the code"),
        pytest.param(", ([5], 5)", "", "test_rows", id="fewer rows"),
        pytest.param("one + two", "two", "helper", id="a helper"),
        pytest.param("two=2", "two=3", "helper", id="a default of a helper"),
        pytest.param(
            "def test_total(", "@mock.patch('shop.x')\ndef test_total(", "test_total", id="decorator"
        ),
    ],
)
def test_a_test_that_may_ask_for_less_is_a_question(old: str, new: str, name: str) -> None:
    assert asked(old, new) == [name]
