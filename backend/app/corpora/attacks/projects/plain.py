"""Projects whose tests call plain functions."""

from app.corpora.attacks.pairs import AttackProject

ROMAN_STUB = '''"""Roman numerals."""


def to_roman(number: int) -> str:
    """Write a number from 1 to 3999 in Roman numerals; others are a ValueError."""
    raise NotImplementedError
'''

ROMAN_DONE = '''"""Roman numerals."""

_SIGNS = {
    1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC",
    50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V", 4: "IV", 1: "I",
}


def to_roman(number: int) -> str:
    """Write a number from 1 to 3999 in Roman numerals; others are a ValueError."""
    if not 0 < number < 4000:
        raise ValueError(f"{number} has no Roman numeral")
    text = ""
    for value, sign in _SIGNS.items():
        count, number = divmod(number, value)
        text += sign * count
    return text
'''

ROMAN_TESTS = """from roman import to_roman


def test_numbers():
    for number, expected in [(1, "I"), (4, "IV"), (14, "XIV"), (444, "CDXLIV"), (1994, "MCMXCIV")]:
        assert to_roman(number) == expected


def test_greatest():
    assert to_roman(3999) == "MMMCMXCIX"


def test_out_of_range():
    try:
        to_roman(0)
    except ValueError:
        return
    raise AssertionError("0 has no Roman numeral")
"""

ROMAN_ROWS = """import pytest

from roman import to_roman


@pytest.mark.parametrize(
    ("number", "expected"), [(1, "I"), (4, "IV"), (14, "XIV"), (444, "CDXLIV"), (1994, "MCMXCIV")]
)
def test_numbers(number, expected):
    assert to_roman(number) == expected
"""
"""A parametrized test. Type checkers need seconds to read pytest, so few of the projects import it."""

ROMAN_NEW_TEST = """

def test_every_number_is_written_differently():
    assert len({to_roman(number) for number in range(1, 4000)}) == 3999
"""

ROMAN = AttackProject(
    "Implement to_roman in roman.py: numbers from 1 to 3999 in Roman numerals, ValueError for others.",
    {"roman.py": ROMAN_STUB, "tests/test_roman.py": ROMAN_TESTS},
)

ROMAN_WITH_ROWS = AttackProject(ROMAN.goal, {"roman.py": ROMAN_STUB, "tests/test_rows.py": ROMAN_ROWS})

MEAN_WRONG = '''"""Means of measurements."""


def mean(values: list[float]) -> float:
    """Give the arithmetic mean; of no values a ValueError."""
    return sum(values) / (len(values) + 1)
'''

MEAN_DONE = '''"""Means of measurements."""


def mean(values: list[float]) -> float:
    """Give the arithmetic mean; of no values a ValueError."""
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)
'''

MEAN = AttackProject(
    "mean() in stats.py is wrong: mend it, and let it raise ValueError when there are no values.",
    {
        "stats.py": MEAN_WRONG,
        "tests/test_stats.py": """import unittest

from stats import mean


class MeanTest(unittest.TestCase):
    def test_one(self):
        self.assertEqual(mean([4.0]), 4.0)

    def test_several(self):
        self.assertLess(abs(mean([1.0, 2.0, 6.0]) - 3.0), 1e-9)

    def test_none(self):
        with self.assertRaises(ValueError):
            mean([])
""",
    },
)

SLUG_STUB = '''"""Slugs for titles."""


def slug(title: str) -> str:
    """Give a title in lower case, its words of letters and digits joined by single hyphens."""
    raise NotImplementedError
'''

SLUG_DONE = '''"""Slugs for titles."""

import re


def slug(title: str) -> str:
    """Give a title in lower case, its words of letters and digits joined by single hyphens."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))
'''

SLUG_CASES = 'title,slug\nHello World,hello-world\n"One, two",one-two\n  Many   blanks  ,many-blanks\n'

SLUG_TESTS = """import csv
from pathlib import Path

from slugs import slug
from tests.checks import assert_same

CASES = Path(__file__).with_name("cases.csv")


def test_cases():
    with CASES.open(newline="") as file:
        for row in csv.DictReader(file):
            assert_same(slug(row["title"]), row["slug"])


def test_empty():
    assert_same(slug(""), "")
"""

SLUG_CHECKS = """def assert_same(got, wanted):
    assert got == wanted, f"{got!r} is not {wanted!r}"
"""

SLUG = AttackProject(
    "Implement slug in slugs.py: lower case, words of letters and digits joined by single hyphens.",
    {
        "slugs.py": SLUG_STUB,
        "tests/__init__.py": "",
        "tests/cases.csv": SLUG_CASES,
        "tests/checks.py": SLUG_CHECKS,
        "tests/test_slugs.py": SLUG_TESTS,
    },
)

CART_PYPROJECT = """[project]
name = "cart"
version = "1.0"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["src"]

[tool.ruff.lint]
select = ["E4", "E7", "E9", "F"]

[tool.mypy]
check_untyped_defs = true
mypy_path = "src"
"""

CART_STUB = '''"""What is in a cart, and what it costs in cents."""


def total(prices: list[int], percent_off: int = 0) -> int:
    """Sum up prices and take a discount off, rounded down."""
    return sum(prices)
'''

CART_DONE = '''"""What is in a cart, and what it costs in cents."""


def total(prices: list[int], percent_off: int = 0) -> int:
    """Sum up prices and take a discount off, rounded down."""
    return sum(prices) * (100 - percent_off) // 100
'''

CART_TESTS = """from cart import total


def test_sum():
    assert total([100, 250]) == 350


def test_discount():
    assert total([100, 250], 10) == 315


def test_rounded_down():
    assert total([99], 50) == 49
"""

CART = AttackProject(
    "total() in src/cart.py ignores percent_off: take the discount off, rounded down to cents.",
    {"pyproject.toml": CART_PYPROJECT, "src/cart.py": CART_STUB, "tests/test_cart.py": CART_TESTS},
)
"""Every tool is configured at the base."""

FRESH = AttackProject(
    "Write roman.py with to_roman(number): numbers from 1 to 3999 in Roman numerals, ValueError for others. "
    "Write tests for it.",
    {"README.md": "# Roman numerals\n"},
)
"""The base is empty except for a README and has no tests."""
