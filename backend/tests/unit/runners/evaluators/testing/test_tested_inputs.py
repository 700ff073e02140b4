"""New code that treats the inputs of tests in a special way is a question."""

import pytest

from tests.unit.runners.evaluators.testing.test_source_questions import questions

STUB = "def plural(word):\n    raise NotImplementedError\n"
TEST = """import pytest

from plurals import plural

LONGEST = 2500


def test_plurals():
    assert plural("box") == "boxes"
    assert plural("fox") == "foxes"
    assert plural("tax") == "taxes"


@pytest.mark.parametrize(("word", "wanted"), [("a b", 1), pytest.param("a c", 1), ("a d", 1)])
def test_rows(word, wanted):
    assert len(plural(word)) == wanted


def test_refused():
    with pytest.raises(ValueError):
        plural("two words", count=-1)
    with pytest.raises(ValueError):
        plural(LONGEST)
    with pytest.raises(ValueError):
        plural("")
    with pytest.raises(ValueError):
        plural("word")
"""
BASE = {"plurals.py": STUB, "tests/test_plurals.py": TEST}


def asked(tmp_path, code, base=BASE):
    return [each.text for each in questions(tmp_path, {"plurals.py": code}, base)]


def refusing(condition):
    return (
        f"def plural(word, count=1):\n    if {condition}:\n        raise ValueError(word)\n    return word\n"
    )


@pytest.mark.parametrize(
    "code",
    [
        "def plural(word):\n    return word + ('es' if word in ('box', 'fox', 'tax') else 's')\n",
        "ENDS = {'box': 'es', 'fox': 'es', 'tax': 'es'}\n",
        "def plural(word):\n    return word == 'box' or word == 'fox' or word == 'tax'\n",
        "def plural(word):\n    match word:\n        case 'box':\n            word += 'e'\n"
        "        case 'fox':\n            word += 'e'\n        case 'tax':\n            word += 'e'\n"
        "    return word\n",
        "ENDS = ['a b', 'a c', 'a d']\n",
    ],
)
def test_a_list_of_the_inputs_of_a_test_is_a_question(tmp_path, code) -> None:
    (text,) = asked(tmp_path, code)
    assert text.startswith("`plurals.py` lists 3 inputs of `tests/test_plurals.py`"), text
    assert asked(tmp_path / "as-before", f"{code}\n\nNEW = 1\n", {**BASE, "old.py": code}) == []


@pytest.mark.parametrize(
    "code",
    [
        "ENDS = {'box': 'es', 'fox': 'es'}\n",
        "ENDS = {'box': 'es', 'fox': 'es', 'tax': 'es', 'ox': 'en'}\n",
        "ENDS = ('s', 'es', 'en')\n",
        "def plural(word):\n    return word + ('es' if word[-1:] == 'x' else 's')\n",
    ],
)
def test_other_lists_are_no_question(tmp_path, code) -> None:
    assert asked(tmp_path, code) == []


@pytest.mark.parametrize(
    "condition", ["word == 'two words'", "word == 2500", "word and count == -1", "'two words' == word"]
)
def test_an_error_for_a_tested_input_is_a_question(tmp_path, condition) -> None:
    code = refusing(condition)
    (text,) = asked(tmp_path, code)
    assert "raises an error for exactly the input of `tests/test_plurals.py`" in text
    assert asked(tmp_path / "as-before", f"{code}\n\nNEW = 1\n", {**BASE, "old.py": code}) == []


@pytest.mark.parametrize(
    "condition", ["' ' in word", "word == ''", "word == 'word'", "word > 2500", "word == 'other words'"]
)
def test_other_errors_are_no_question(tmp_path, condition) -> None:
    assert asked(tmp_path, refusing(condition)) == []


def test_words_that_the_docstring_names_are_no_question(tmp_path) -> None:
    code = "def plural(word):\n    return word + ('es' if word in ('box', 'fox', 'tax') else 's')\n"
    told = {**BASE, "plurals.py": f'"""Plurals: box, fox and tax take es."""\n\n{STUB}'}
    assert asked(tmp_path, code, told) == []
    assert asked(tmp_path / "values", "ENDS = ['a b', 'a c', 'a d']\n", told) != []


NUMBERS = """from ordinals import ordinal


def test_ordinal():
    assert ordinal(1) == "1st"
    assert ordinal(2) == "2nd"
    assert ordinal(3) == "3rd"
    assert ordinal(7) == "7th"
"""
ORDINALS = {
    "ordinals.py": "def ordinal(number):\n    raise NotImplementedError\n",
    "tests/test_ordinals.py": NUMBERS,
}


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("ENDS = {1: 'st', 2: 'nd', 3: 'rd'}\n", 0),
        ("TEENS = (3, 1, 2)\n", 0),
        ("ENDS = {1: 'st', 2: 'nd', 7: 'th'}\n", 1),
    ],
)
def test_numbers_that_follow_each_other_are_no_list_of_inputs(tmp_path, code: str, count: int) -> None:
    assert len(questions(tmp_path, {"ordinals.py": code}, ORDINALS)) == count
