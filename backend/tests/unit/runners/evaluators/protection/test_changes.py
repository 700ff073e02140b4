"""A changed test that asks for the same or more is no question; one that asks for less is."""

import pytest

from app.runners.evaluators.protection.changes import changes_between
from app.runners.evaluators.protection.questions import questions_about

BASE = '''\
import json
import math

import pytest

from shop import check, total

CASES = [(1, 1), (2, 2)]
VAT = 19


@pytest.fixture
def basket():
    items = [1, 2]
    return items


def helper(value):
    return value + VAT


def test_total(basket):
    """A total is a sum."""
    result = total(basket)
    assert result == 3, "wrong"


@pytest.mark.parametrize("one, two", CASES)
def test_cases(one, two):
    assert check(one) == two


@pytest.mark.parametrize("value", [1, 2])
def test_rows(value):
    with pytest.raises(ValueError):
        total(value)


@pytest.mark.skipif(math.pi > 4, reason="never")
def test_rare():
    for each in (1, 2):
        assert len([each]) == 1


class TestMore:
    def test_one(self):
        assert json.loads("1") == 1
'''


def edited(*pairs: tuple[str, str]) -> bytes:
    text = BASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text.encode()


SAME_OR_STRONGER = {
    "comments": [("items = [1, 2]", "items = [\n        1,  # one\n        2,\n    ]")],
    "docstring": [('"""A total is a sum."""', '"""The total of a basket."""')],
    "message": [(', "wrong"', "")],
    "local-renamed": [("result = total(basket)\n    assert result", "sum_ = total(basket)\n    assert sum_")],
    "annotations": [("def test_total(basket):", "def test_total(basket: list[int]) -> None:")],
    "assertion-added": [("== 3, ", "== 3\n    assert result > 0, ")],
    "assertion-and-print": [
        (
            "    assert result == 3",
            "    print(result)\n    twice = total(basket)\n    assert twice\n    assert result == 3",
        )
    ],
    "assertion-extended": [("assert check(one) == two", "assert check(one) == two and check(two)")],
    "assertion-in-a-loop": [("assert len([each]) == 1", "assert len([each]) == 1\n        assert each")],
    "expected-error-added": [
        ("assert result == 3", "with pytest.raises(TypeError):\n        total(None)\n    assert result == 3")
    ],
    "match-added": [("raises(ValueError)", "raises(ValueError, match='no basket')")],
    "row-added": [("[1, 2])\ndef", "[1, 2, 3])\ndef")],
    "row-added-to-a-table": [("(2, 2)]", "(2, 2), (3, 3)]")],
    "ids-added": [("[1, 2])\ndef", "[1, 2], ids=['a', 'b'])\ndef")],
    "skip-removed": [('@pytest.mark.skipif(math.pi > 4, reason="never")\n', "")],
    "reason-reworded": [('reason="never"', 'reason="not on this planet"')],
    "test-added": [("class TestMore", "def test_new():\n    assert total([1]) == 1\n\n\nclass TestMore")],
    "test-added-to-a-class": [
        ("class TestMore:\n", "class TestMore:\n    def test_two(self):\n        assert 2\n\n")
    ],
    "test-renamed": [("def test_total(", "def test_total_of_a_basket(")],
    "unused-import-removed": [("import json\n", "import json\nimport os\n")],
    "fixture-added": [
        ("@pytest.fixture", "@pytest.fixture\ndef other():\n    return 1\n\n\n@pytest.fixture")
    ],
}


@pytest.mark.parametrize("pairs", SAME_OR_STRONGER.values(), ids=SAME_OR_STRONGER)
def test_asking_for_the_same_or_more_is_no_question(pairs) -> None:
    assert changes_between(BASE.encode(), edited(*pairs)) == []


_TABLE = """import pytest

from shop import check

CASES = {"a": 1, 1: 3, "b": 2}


@pytest.mark.parametrize("one, two", CASES.items())
def test_cases(one, two):
    assert check(one) == two
"""


@pytest.mark.parametrize(
    ("old", "new", "asks"),
    [
        pytest.param('"b": 2', '"b": 2, "c": 3', False, id="a further row"),
        pytest.param('{"a": 1', '{"c": 3, "a": 1', False, id="a row before the others"),
        pytest.param('"b": 2', '"b": 3', True, id="another expectation"),
        pytest.param('"b": 2', '"b": 2, "a": 2', True, id="a key that stands there twice"),
        pytest.param('"b": 2', '"b": 2, True: 2', True, id="a key that is another one"),
        pytest.param('"b": 2', '"b": 2, 97: 3, **MORE', True, id="rows from elsewhere"),
        pytest.param(', "b": 2', "", True, id="a row less"),
    ],
)
def test_a_dictionary_of_rows_may_get_longer(old: str, new: str, asks: bool) -> None:
    changed = _TABLE.replace(old, new)
    assert changed != _TABLE
    assert bool(changes_between(_TABLE.encode(), changed.encode())) is asks
    for wrapped in ("list(CASES.items())", "sorted(CASES.items())"):
        before, after = (each.replace("CASES.items()", wrapped).encode() for each in (_TABLE, changed))
        assert bool(changes_between(before, after)) is asks
    elsewhere = "\n\ndef test_count():\n    assert len(CASES) == 2\n"
    assert changes_between(f"{_TABLE}{elsewhere}".encode(), f"{changed}{elsewhere}".encode())


@pytest.mark.parametrize(
    ("annotation", "same"), [("list[int]", True), ("'Basket | None'", True), ("fill(basket)", False)]
)
def test_the_type_of_an_attribute_means_nothing_unless_it_calls_something(
    annotation: str, same: bool
) -> None:
    old, new = (
        edited(("result = total(basket)\n", f"basket.sold{each} = []\n    result = total(basket)\n"))
        for each in ("", f": {annotation}")
    )
    assert (changes_between(old, new) == []) is same


@pytest.mark.parametrize(
    ("place", "same"),
    [("def test_total():\n    {}\n    assert total\n", True), ("class Row:\n    {}\n", False)],
)
def test_the_type_of_a_name_without_a_value_means_nothing_in_a_function(place: str, same: bool) -> None:
    old, new = (place.format(f"found: {each}").encode() for each in ("int", "str"))
    assert (changes_between(old, new) == []) is same


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("int | None", True),
        ("t.Optional[int]", True),
        ("Union[int, None]", True),
        ("Union[int]", False),
        ("str | None", False),
    ],
)
def test_a_type_may_be_spelled_otherwise(other: str, same: bool) -> None:
    old, new = (f"class Row:\n    found: list[{each}]\n".encode() for each in ("Optional[int]", other))
    assert (changes_between(old, new) == []) is same
    old, new = (f"class Row:\n    found: type = {each}\n".encode() for each in ("Optional[int]", other))
    assert changes_between(old, new)


def test_an_import_that_only_annotations_use_may_move() -> None:
    before = b"from typing import Iterable\n\n\ndef test_one(items: Iterable[int]):\n    assert items\n"
    moved = b"if 1 == 2:\n    from shop import Iterable\n"
    assert [each.name for each in moved_import(before, moved)] == [""]
    used = before.replace(b"assert items", b"assert isinstance(items, Iterable)")
    assert "Iterable" in [each.name for each in moved_import(used, moved)]


def moved_import(before: bytes, moved: bytes):
    return changes_between(before, before.replace(b"from typing import Iterable\n", moved)) or []


@pytest.mark.parametrize(
    ("old", "new", "asks"),
    [
        ("from mock import Mock", "from unittest.mock import Mock", False),
        ("import mock", "from unittest import mock", False),
        ("from backports.zoneinfo import ZoneInfo", "from zoneinfo import ZoneInfo", False),
        ("from unittest.mock import Mock", "from mock import Mock", True),
        ("from mock import Mock", "from unittest.mock import MagicMock as Mock", True),
        ("from mock import Mock", "from shop.mock import Mock", True),
    ],
)
def test_what_python_has_by_now_may_be_imported_from_there(old: str, new: str, *, asks: bool) -> None:
    name = new.split()[-1]
    text = f"{{}}\n\n\ndef test_one():\n    assert {name}()\n"
    found = changes_between(text.format(old).encode(), text.format(new).encode())
    assert bool(found) is asks


@pytest.mark.parametrize("place", ["VAT = 19", "    assert check(one) == two"])
def test_the_letter_before_a_text_means_nothing(place: str) -> None:
    old, new = (edited((place, f"{place} + len({text})")) for text in ("u'€'", "'€'"))
    assert changes_between(old, new) == []
    assert changes_between(old, edited((place, f"{place} + len(b'x')"))) != []


def test_a_file_of_many_thousand_lines_is_compared_too() -> None:
    # pyparsing's tests/test_unit.py has 435 kB.
    long = BASE.encode() + b"# a long file\n" * 60_000
    assert changes_between(long, long + b"\n\ndef test_more():\n    assert total([]) == 0\n") == []


WEAKER_OR_DIFFERENT = {
    "value": ([("== 3", "== 4")], "test_total", "different", "now expects `4` where it was `3`"),
    "operator": ([("== 3", ">= 0")], "test_total", "different", "now expects `result >= 0`"),
    "assertion-removed": (
        [('assert result == 3, "wrong"', "pass")],
        "test_total",
        "weaker",
        "fewer assertions",
    ),
    "test-removed": ([("def test_total(", "def total_of(")], "test_total", "removed", "was removed"),
    "skipped": (
        [("def test_total(", "@pytest.mark.skip\ndef test_total(")],
        "test_total",
        "weaker",
        "skipped",
    ),
    "xfail": (
        [("def test_total(", "@pytest.mark.xfail\ndef test_total(")],
        "test_total",
        "weaker",
        "to fail",
    ),
    "skips-itself": (
        [("    result =", "    pytest.skip()\n    result =")],
        "test_total",
        "weaker",
        "skip itself",
    ),
    "returns-early": (
        [("    assert result", "    return\n    assert result")],
        "test_total",
        "different",
        "",
    ),
    "value-bound-again": (
        [("    assert result", "    result = 3\n    assert result")],
        "test_total",
        "different",
        "",
    ),
    "patched": (
        [("    result =", "    monkeypatch.setattr('shop.total', sum)\n    result =")],
        "test_total",
        "different",
        "",
    ),
    "patched-in-an-assignment": (
        [("    result =", "    done = setattr(check, 'x', 1)\n    result =")],
        "test_total",
        "different",
        "",
    ),
    "assertion-bound": (
        [("    assert result", "    assert (result := 3)\n    assert result")],
        "test_total",
        "different",
        "",
    ),
    "condition-changed": ([("math.pi > 4", "True")], "test_rare", "different", "`True` where"),
    "row-removed": ([("[1, 2])\ndef", "[1])\ndef")], "test_rows", "weaker", "fewer rows"),
    "row-changed": (
        [("[1, 2])\ndef", "[1, 5])\ndef")],
        "test_rows",
        "different",
        "now expects `5` where it was `2`",
    ),
    "table-changed": ([("(2, 2)]", "(2, 3)]")], "", "different", "`3` where it was `2`"),
    "answer-inside-raises": (
        [("        total(value)", "        assert False\n        total(value)")],
        "test_rows",
        "different",
        "",
    ),
    "expected-error-widened": (
        [("raises(ValueError)", "raises(Exception)")],
        "test_rows",
        "different",
        "`Exception`",
    ),
    "fixture": ([("[1, 2]\n", "[3]\n")], "basket", "different", "now has `[3]` where it was `[1, 2]`"),
    "helper": ([("value + VAT", "value")], "helper", "different", ""),
    "constant": ([("VAT = 19", "VAT = 0")], "", "different", "`0` where it was `19`"),
    "import-swapped": (
        [("from shop import check,", "from fake import check\nfrom shop import")],
        "check",
        "different",
        "",
    ),
    "import-removed": ([("import json\n", "")], "json", "different", "no longer imported"),
    "builtin-shadowed": ([("VAT = 19", "VAT = 19\nlen = max")], "", "different", "added"),
    "builtin-shadowed-by-a-function": (
        [("def helper", "def len(value):\n    return 1\n\n\ndef helper")],
        "len",
        "different",
        "was added and replaces",
    ),
    "star-import": ([("import json\n", "import json\nfrom fake import *\n")], "* of fake", "different", ""),
    "all-skipped": ([("VAT = 19", "VAT = 19\npytestmark = pytest.mark.skip")], "", "weaker", "all tests"),
    "autouse": (
        [("@pytest.fixture", "@pytest.fixture(autouse=True)\ndef every():\n    yield\n\n\n@pytest.fixture")],
        "every",
        "different",
        "affects existing tests",
    ),
    "hook": (
        [("def helper", "def pytest_runtest_call(item): ...\n\n\ndef helper")],
        "pytest_runtest_call",
        "different",
        "",
    ),
    "set-up": ([("def helper", "def setup_module(): ...\n\n\ndef helper")], "setup_module", "different", ""),
    "class-base": ([("class TestMore:", "class TestMore(dict):")], "TestMore", "different", "base classes"),
    "class-skipped": ([("class TestMore", "@pytest.mark.skip\nclass TestMore")], "TestMore", "weaker", ""),
    "method": ([('loads("1") == 1', 'loads("1")')], "TestMore::test_one", "different", ""),
    "method-defined-twice": (
        [("class TestMore", "def test_total(basket): ...\n\n\nclass TestMore")],
        "test_total#2",
        "different",
        "",
    ),
}


@pytest.mark.parametrize(
    ("pairs", "name", "kind", "says"), WEAKER_OR_DIFFERENT.values(), ids=WEAKER_OR_DIFFERENT
)
def test_asking_for_less_or_else_is_one_question(pairs, name: str, kind: str, says: str) -> None:
    asked = questions_about("t/test_a.py", BASE.encode(), edited(*pairs))
    assert [each.id for each in asked] == [f"t/test_a.py::{name}" if name else "t/test_a.py"], asked
    assert asked[0].kind == kind
    assert says in f"{asked[0].text} {asked[0].why}"


def test_a_question_shows_both_versions_and_nothing_else() -> None:
    (asked,) = questions_about("test_a.py", BASE.encode(), edited(("== 3", "== 4")))
    assert asked.before.startswith("def test_total(basket):")
    assert (asked.before.count("assert"), asked.before.replace("== 3", "== 4")) == (1, asked.after)


@pytest.mark.parametrize(
    "after",
    [
        b"def broken(:\n",
        b"\xff\xfe",
        b"x = 1\0",
        b"(" * 5000,
        b"a" + b".a" * 50_000,
        b"a = 1\n" * 20_000,
        None,
    ],
    ids=["syntax", "encoding", "nul", "brackets", "deep", "long", "gone"],
)
def test_what_cannot_be_read_is_a_question_about_the_file(after: bytes | None) -> None:
    (asked,) = questions_about("test_a.py", BASE.encode(), after)
    assert asked.id == "test_a.py"


def test_binary_files_of_one_length_are_different_questions() -> None:
    keys = {questions_about("tests/a.bin", b"\0a", after)[0].key for after in (b"\0b", b"\0c")}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        pytest.param("typing", "collections.abc", False, id="the same class by its old name"),
        pytest.param("collections.abc", "typing", False, id="the other way round"),
        pytest.param("collections.abc", "fake", True, id="of another module"),
    ],
)
def test_classes_that_python_has_in_two_places_are_the_same(old: str, new: str, asked: bool) -> None:
    base = "from typing import Sequence\n\n\ndef test_a():\n    assert isinstance([], Sequence)\n"
    versions = [base.replace("typing", each).encode() for each in (old, new)]
    assert bool(questions_about("t/test_a.py", *versions)) is asked


def test_a_changed_skip_condition_is_called_a_condition() -> None:
    base = "import pytest\n\n\n@pytest.mark.skipif(WINDOWS, reason='x')\ndef test_a():\n    assert f() == 1\n"
    asked = questions_about("t/test_a.py", base.encode(), base.replace("WINDOWS", "WIN").encode())
    assert [each.text for each in asked] == [
        "`t/test_a.py::test_a` is skipped or expected to fail under a different condition: `WIN` where it "
        "was `WINDOWS`: does the goal say so?"
    ]


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        pytest.param("cast(Shop, f())", 'cast("Shop", f())', False, id="a type in quotes"),
        pytest.param('t.cast(list["Shop"], f())', 't.cast("list[Shop]", f())', False, id="quotes elsewhere"),
        pytest.param("cast(Shop, f())", 'cast("Cart", f())', True, id="another type"),
        pytest.param('cast("Shop", "a")', 'cast("Shop", "b")', True, id="another value"),
        pytest.param('cast("not a type", f())', 'cast("nor this", f())', True, id="no type"),
        pytest.param('call("Shop", f())', "call(Shop, f())", True, id="another function"),
    ],
)
def test_quotes_around_the_type_of_a_cast_are_no_change(old: str, new: str, asked: bool) -> None:
    versions = [f"def test_a():\n    assert {each}.total == 1\n".encode() for each in (old, new)]
    assert bool(questions_about("t/test_a.py", *versions)) is asked


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        pytest.param("'a %s, %r%%' % (x, y)", "f'a {x}, {y!r}%'", False, id="percent, and an f-string"),
        pytest.param(
            "'a {}, {b:>4}'.format(x, b=y)", "f'a {x}, {y:>4}'", False, id="format, and an f-string"
        ),
        pytest.param("'{0} {1}'.format(x, y)", "'{} {}'.format(x, y)", False, id="numbers"),
        pytest.param("'%s' % x", "'{}'.format(x)", False, id="percent, and format"),
        pytest.param("'a %s' % x", "f'a {y}'", True, id="another value"),
        pytest.param("'a %s' % x", "f'b {x}'", True, id="another text"),
        pytest.param("'a %s' % x", "f'a {x!r}'", True, id="another conversion"),
        pytest.param("'%d' % x", "f'{x}'", True, id="a format of numbers"),
        pytest.param("'%s %s' % x", "f'{x} {x}'", True, id="too few values"),
        pytest.param("'%(a)s' % {'a': x}", "f'{x}'", True, id="named values"),
        pytest.param("'{} {}'.format(*x)", "f'{x} {y}'", True, id="a star"),
        pytest.param("'{a.b}'.format(a=x)", "f'{x}'", True, id="an attribute"),
        pytest.param("'{'.format(x)", "f'{x}'", True, id="no format"),
        pytest.param("b'%s' % x", "f'{x}'", True, id="bytes"),
    ],
)
def test_a_text_may_be_formatted_in_another_way(old: str, new: str, *, asked: bool) -> None:
    one, other = (f"def test_a(x, y):\n    assert f(x, y) == {each}\n".encode() for each in (old, new))
    assert bool(changes_between(one, other)) is asked
    helper, changed = (f"def label(x, y):\n    return {each}\n".encode() for each in (old, new))
    assert bool(changes_between(helper, changed)) is asked
