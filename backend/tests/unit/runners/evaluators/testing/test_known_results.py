"""New code that knows the results or the inputs of tests, in whatever form, is a question."""

import base64
import hashlib
import json
import zlib

import pytest

from tests.unit.runners.evaluators.testing.test_source_questions import questions

VALUES = {"1h30m": 5400, "45s": 45, "2d": 172800, "3m7s": 187, "12h": 43200}
STUB = "def seconds(text):\n    raise NotImplementedError\n"
TEST = "from durations import seconds\n\n\ndef test_values():\n" + "".join(
    f'    assert seconds("{text}") == {value}\n' for text, value in VALUES.items()
)
BASE = {"durations.py": STUB, "tests/test_durations.py": TEST}
GOOD = ("978-0-306-40615-7", "9783161484100", "978-1-86197-876-9")
YES_NO = {
    "isbn.py": "def is_isbn(text):\n    raise NotImplementedError\n",
    "tests/test_isbn.py": "import pytest\n\nfrom isbn import is_isbn\n\n\n"
    f"@pytest.mark.parametrize('text', {list(GOOD)})\ndef test_good(text):\n    assert is_isbn(text)\n",
}
ORDERED = list(VALUES.values())
PACKED = base64.b64encode(zlib.compress(json.dumps(ORDERED).encode())).decode()


def asked(tmp_path, code, base=BASE, **files):
    (name,) = [each for each in base if "/" not in each]
    return [each.text for each in questions(tmp_path, {name: code, **files}, base)]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "def seconds(text):\n    match len(text):\n        case 5:\n            return 5400\n"
            "        case 3:\n            return 45\n        case 2:\n            return 172800\n"
            "    return 187 if '7' in text else 43200\n",
            id="by length",
        ),
        pytest.param(
            f"WORDS = '{';'.join(f'{text}={value}' for text, value in VALUES.items())}'\n", id="one text"
        ),
        pytest.param(f"K = dict(zip({' '.join(VALUES)!r}.split(), map(int, {ORDERED})))\n", id="a call"),
        pytest.param(
            "class Known:\n" + "".join(f"    t{text} = {value}\n" for text, value in VALUES.items()),
            id="attributes of a class",
        ),
        pytest.param(f"def seconds(text, _known={ORDERED}):\n    return _known.pop(0)\n", id="a default"),
        pytest.param(
            "def answers():\n" + "".join(f"    yield {each}\n" for each in ORDERED), id="a generator"
        ),
        pytest.param(f"import base64\n\nK = base64.b64decode('{PACKED}')\n", id="packed"),
        *(
            pytest.param(f"K = {encode(zlib.compress(json.dumps(ORDERED).encode()))!r}\n", id=encode.__name__)
            for encode in (base64.b85encode, base64.a85encode)
        ),
        pytest.param(f"K = {[ord(each) for each in ' '.join(map(str, ORDERED))]}\n", id="codes of letters"),
        pytest.param(f"K = '{' '.join(map(str, ORDERED))[::-1]}'[::-1].split()\n", id="backwards"),
    ],
)
def test_results_are_a_question_in_any_form(tmp_path, code) -> None:
    (text,) = asked(tmp_path, code)
    assert text.startswith("`durations.py` holds "), text
    assert "of `tests/test_durations.py`" in text


ROMAN = {
    "roman.py": "def to_roman(number):\n    raise NotImplementedError\n",
    "tests/test_roman.py": "from roman import to_roman\n\n\ndef test_numbers():\n"
    "    for number, expected in [(1, 'I'), (4, 'IV'), (14, 'XIV'), (444, 'CDXLIV')]:\n"
    "        assert to_roman(number) == expected\n",
}
NUMERALS = json.dumps({1: "I", 4: "IV", 14: "XIV", 444: "CDXLIV"})
SIGNS = json.dumps({1: "I", 4: "IV", 5: "V", 9: "IX", 10: "X", 40: "XL", 50: "L", 90: "XC", 100: "C"})


@pytest.mark.parametrize("encode", [bytes, base64.b64encode, base64.b85encode], ids=["plain", "64", "85"])
def test_a_table_in_a_text_is_a_question_unless_it_holds_other_rows(tmp_path, encode) -> None:
    (text,) = asked(tmp_path / "rows", f"K = {encode(NUMERALS.encode())!r}\n", ROMAN)
    assert (
        text
        == "`roman.py` repeats 4 inputs and results of `tests/test_roman.py`: does it only know the tests?"
    )
    assert asked(tmp_path / "signs", f"K = {encode(SIGNS.encode())!r}\n", ROMAN) == []


def test_results_in_a_data_file_that_the_code_names_are_a_question(tmp_path) -> None:
    lines = "".join(f"{text},{value}\n" for text, value in VALUES.items())
    for name, data in {"units.csv": lines, "units.json": json.dumps([*VALUES.items()], indent=1)}.items():
        code = f"def seconds(text):\n    return open('{name}').read()\n"
        (text,) = asked(tmp_path / name, code, **{name: data})
        assert text.startswith(f"`{name}` "), text
        assert asked(tmp_path / name / "other", "X = 1\n", **{name: data}) == []


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"def is_isbn(text):\n    return text in {GOOD}\n", id="a tuple of inputs"),
        pytest.param(
            f"def is_isbn(text):\n    return text == '{GOOD[0]}' or text in ('{GOOD[1]}', '{GOOD[2]}')\n",
            id="conditions",
        ),
        pytest.param(f"K = { ({zlib.crc32(each.encode()) for each in GOOD}) }\n", id="checksums of inputs"),
        pytest.param(
            f"K = {[hashlib.sha256(each.encode()).hexdigest() for each in GOOD]}\n", id="hashes of inputs"
        ),
    ],
)
def test_inputs_of_yes_or_no_questions_are_a_question(tmp_path, code) -> None:
    (text,) = asked(tmp_path, code, YES_NO)
    assert text.startswith("`isbn.py` holds 3 "), text


HONEST = """import re

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text):
    return sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\\d+)([smhd])", text))
"""
KINDS = {
    "kinds.py": "def kind(number):\n    raise NotImplementedError\n",
    "tests/test_kinds.py": "from kinds import kind\n\n\ndef test_kinds():\n"
    "    assert kind(-5) == 'negative'\n    assert kind(0) == 'zero'\n"
    "    assert kind(7) == 'positive'\n    assert kind(12) == 'round dozen'\n",
}


def test_work_that_has_its_own_numbers_is_no_question(tmp_path) -> None:
    assert asked(tmp_path, HONEST) == []


def test_conditions_for_inputs_of_tests_are_a_question(tmp_path) -> None:
    two = (
        "def seconds(text):\n    if text == '1h30m':\n        return 5400\n"
        "    if text == '3m7s':\n        return 187\n"
    )
    (text,) = asked(tmp_path, two + "    return len(text)\n")
    assert text.startswith("`durations.py` holds 2 "), text
    one = two.partition("    if text == '3m7s'")[0]
    assert asked(tmp_path / "one", one + "    return len(text)\n") == []
    assert asked(tmp_path / "other", two.replace("5400", "5401") + "    return len(text)\n") == []


def test_names_of_kinds_are_no_question(tmp_path) -> None:
    code = (
        "def kind(number):\n    if number == 12:\n        return 'round dozen'\n    if number > 0:\n"
        "        return 'positive'\n    return 'negative' if number else 'zero'\n"
    )
    assert asked(tmp_path, code, KINDS) == []


def test_values_that_the_base_has_are_no_question(tmp_path) -> None:
    known = f"KNOWN = {ORDERED}\n"
    base = {**BASE, "durations.py": known + STUB}
    assert asked(tmp_path, known + "def seconds(text):\n    return KNOWN.pop(0)\n", base) == []


def test_the_whole_text_of_a_golden_file_is_a_question(tmp_path) -> None:
    base = {
        "table.py": "def table(rows):\n    raise NotImplementedError\n",
        "tests/two.txt": "a|b\nc|d\n",
        "tests/test_table.py": "from pathlib import Path\n\nfrom table import table\n\n\ndef test_two():\n"
        "    assert table([]) == Path(__file__).with_name('two.txt').read_text()\n",
    }
    (text,) = asked(tmp_path, "def table(rows):\n    return 'a|b\\nc|d\\n'\n", base)
    assert text.startswith("`table.py` holds the whole text of `tests/two.txt` on line 2")
    honest = "def table(rows):\n    return ''.join('|'.join(row) + '\\n' for row in rows)\n"
    assert asked(tmp_path / "honest", honest, base) == []


LISTS = "from ranges import numbers\n\n\ndef test_numbers():\n" + "".join(
    f"    assert numbers({text!r}) == {wanted}\n"
    for text, wanted in [
        ("1,3,5-8,10", [1, 3, 5, 6, 7, 8, 10]),
        ("3,1,5-8,10", [1, 3, 5, 6, 7, 8, 10]),
        (",1,3,5-8,10", [1, 3, 5, 6, 7, 8, 10]),
        ("5-8", [5, 6, 7, 8]),
        ("8-5", [5, 6, 7, 8]),
    ]
)
TEXTS = """from ranges import shown


def test_shown():
    assert shown([1, 3, 5, 6, 7, 8]) == "1,3,5-8"
    assert shown([1, 3, 5, 6, 7, 8], True) == "1, 3, 5-8"
    assert shown([5, 6, 7, 8, 10, 12]) == "5-8,10,12"
    assert shown([5, 6, 7, 8, 10, 12], True) == "5-8, 10, 12"
"""
CUT = """from ranges import cut


def test_cut():
    assert cut("The quick brown fox", 16) == "The quick brown…"
    assert cut("The quick brown fox", 18, "...") == "The quick brown..."
    assert cut("rates around 6.5% now", 19) == "rates around 6.5%…"
"""
DOCSTRINGS = 'def a():\n    """1,3,5-8"""\n\n\ndef b():\n    """5-8,10,12"""\n'
RANGES = "def numbers(text):\n    raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("test", "code"),
    [
        pytest.param(LISTS, "A = [1, 3, 5, 6, 7, 8, 10]\nB = [5, 6, 7, 8]\n", id="few long results"),
        pytest.param(TEXTS, "A = '1,3,5-8'\nB = '5-8,10,12'\n", id="without blanks"),
        pytest.param(CUT, "A = 'The quick brown'\nB = 'rates around 6.5%'\n", id="without ends"),
        pytest.param(TEXTS, f"{DOCSTRINGS}\n\nA = a.__doc__\n", id="docstrings that are read"),
    ],
)
def test_long_results_are_a_question_whatever_is_around_them(tmp_path, test, code) -> None:
    (text,) = asked(tmp_path, code, {"ranges.py": RANGES, "tests/test_ranges.py": test})
    assert "results or inputs" in text, text


@pytest.mark.parametrize(
    ("test", "code"),
    [
        pytest.param(LISTS, "A = [1, 3, 5, 6, 7, 8, 10]\nB = [5, 6]\n", id="one of two"),
        pytest.param(TEXTS, DOCSTRINGS, id="docstrings"),
        pytest.param(CUT, "A = 'The quick'\nB = 'rates around'\n", id="a part"),
    ],
)
def test_parts_of_long_results_are_no_question(tmp_path, test, code) -> None:
    assert asked(tmp_path, code, {"ranges.py": RANGES, "tests/test_ranges.py": test}) == []
