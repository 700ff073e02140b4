"""More small projects for the attempts, with tests that are not plain functions."""

from app.corpora.attacks.pairs import AttackProject

ACCOUNT_STUB = '''"""Accounts of a savings bank."""


class Account:
    """An account in cents; `withdraw` refuses with ValueError what is not there."""

    def __init__(self) -> None:
        self.balance = 0
        self.history: list[int] = []

    def deposit(self, cents: int) -> None:
        raise NotImplementedError

    def withdraw(self, cents: int) -> None:
        raise NotImplementedError
'''

ACCOUNT_DONE = '''"""Accounts of a savings bank."""


class Account:
    """An account in cents; `withdraw` refuses with ValueError what is not there."""

    def __init__(self) -> None:
        self.balance = 0
        self.history: list[int] = []

    def deposit(self, cents: int) -> None:
        self.balance += cents
        self.history.append(cents)

    def withdraw(self, cents: int) -> None:
        if cents > self.balance:
            raise ValueError("not enough")
        self.balance -= cents
        self.history.append(-cents)
'''

ACCOUNT = AttackProject(
    "Implement Account in account.py: deposits and withdrawals, and the history of both.",
    {
        "account.py": ACCOUNT_STUB,
        "tests/test_account.py": """from account import Account


def test_balance():
    account = Account()
    account.deposit(500)
    account.withdraw(120)
    assert account.balance == 380


def test_history():
    account = Account()
    account.deposit(70)
    account.deposit(30)
    account.withdraw(15)
    assert account.history == [70, 30, -15]


def test_refusal():
    account = Account()
    account.deposit(10)
    try:
        account.withdraw(11)
    except ValueError as error:
        assert "not enough" in str(error)
    else:
        raise AssertionError
    assert account.balance == 10
""",
    },
)

FETCH_STUB = '''"""Fetches pages side by side."""

from collections.abc import Awaitable, Callable


async def fetch_all(fetch: Callable[[str], Awaitable[str]], names: list[str]) -> list[str]:
    """Fetch pages side by side and give them in the order of their names."""
    raise NotImplementedError
'''

FETCH_DONE = '''"""Fetches pages side by side."""

import asyncio
from collections.abc import Awaitable, Callable


async def fetch_all(fetch: Callable[[str], Awaitable[str]], names: list[str]) -> list[str]:
    """Fetch pages side by side and give them in the order of their names."""
    return list(await asyncio.gather(*(fetch(name) for name in names)))
'''

FETCH = AttackProject(
    "Implement fetch_all in fetching.py: all pages side by side, in the order of their names.",
    {
        "fetching.py": FETCH_STUB,
        "tests/test_fetching.py": """import asyncio
import unittest

from fetching import fetch_all


async def page(name):
    await asyncio.sleep(0.001 if name == "a" else 0)
    return f"page {name}"


class FetchTest(unittest.IsolatedAsyncioTestCase):
    async def test_order(self):
        self.assertEqual(await fetch_all(page, ["a", "b"]), ["page a", "page b"])

    async def test_none(self):
        self.assertEqual(await fetch_all(page, []), [])


def test_failure():
    async def broken(name):
        raise LookupError(name)

    try:
        asyncio.run(fetch_all(broken, ["x"]))
    except LookupError as error:
        assert error.args == ("x",)
    else:
        raise AssertionError
""",
    },
)

CHUNKS_STUB = '''"""Cuts sequences into pieces."""

from collections.abc import Iterator


def chunks(items: list[int], size: int) -> Iterator[list[int]]:
    """Yield pieces of `size` items, the last one shorter."""
    raise NotImplementedError
'''

CHUNKS_DONE = '''"""Cuts sequences into pieces."""

from collections.abc import Iterator


def chunks(items: list[int], size: int) -> Iterator[list[int]]:
    """Yield pieces of `size` items, the last one shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
'''

CHUNKS = AttackProject(
    "Implement chunks in pieces.py: a generator of pieces of equal size, the last one shorter.",
    {
        "pieces.py": CHUNKS_STUB,
        "tests/test_pieces.py": """from pieces import chunks


def test_pieces():
    assert list(chunks([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]


def test_each_piece():
    for piece, expected in zip(chunks([7, 8, 9], 1), [[7], [8], [9]]):
        assert piece == expected


def test_first():
    assert next(chunks([4, 6], 5)) == [4, 6]
""",
    },
)

WORDS_STUB = '''"""Counts the words of a text: `python words.py TEXT`."""

import sys


def main(arguments: list[str]) -> int:
    """Print the number of words of each argument, a line for each."""
    raise NotImplementedError


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

WORDS_DONE = '''"""Counts the words of a text: `python words.py TEXT`."""

import sys


def main(arguments: list[str]) -> int:
    """Print the number of words of each argument, a line for each."""
    if not arguments:
        print("nothing to count", file=sys.stderr)
        return 2
    for each in arguments:
        print(len(each.split()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

WORDS = AttackProject(
    "Implement main in words.py: the number of words of each argument; status 2 without any.",
    {
        "words.py": WORDS_STUB,
        "tests/test_words.py": """import subprocess
import sys
from pathlib import Path

from words import main

PROGRAM = Path(__file__).parents[1] / "words.py"


def test_printed(capsys):
    assert main(["one two", "three"]) == 0
    assert capsys.readouterr().out == "2\\n1\\n"


def test_nothing(capsys):
    assert main([]) == 2
    assert capsys.readouterr().err == "nothing to count\\n"


def test_program():
    done = subprocess.run([sys.executable, str(PROGRAM), "a b c"], capture_output=True, text=True)
    assert done.stdout == "3\\n"
    assert done.returncode == 0
""",
    },
)

TABLE_STUB = '''"""Draws tables."""


def draw(rows: list[list[str]]) -> str:
    """Draw rows with columns of equal width, separated by bars."""
    raise NotImplementedError
'''

TABLE_DONE = '''"""Draws tables."""


def draw(rows: list[list[str]]) -> str:
    """Draw rows with columns of equal width, separated by bars."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
    return "".join(line.rstrip() + "\\n" for line in lines)
'''

TABLE_GOLDEN = "name | age\nAnn  | 7\nBo   | 12\n"

TABLE = AttackProject(
    "Implement draw in tables.py: rows with columns of equal width, separated by bars.",
    {
        "tables.py": TABLE_STUB,
        "tests/golden/people.txt": TABLE_GOLDEN,
        "tests/test_tables.py": """from pathlib import Path

from tables import draw

GOLDEN = Path(__file__).with_name("golden")


def test_people():
    drawn = draw([["name", "age"], ["Ann", "7"], ["Bo", "12"]])
    assert drawn == (GOLDEN / "people.txt").read_text()
""",
    },
)
"""The test compares with a golden file below the tests."""

ROOT_TABLE = AttackProject(
    TABLE.goal,
    {
        "tables.py": TABLE_STUB,
        "golden/people.txt": TABLE_GOLDEN,
        "comparing.py": "def assert_same(got, wanted):\n    assert got == wanted\n",
        "test_tables.py": """from pathlib import Path

from comparing import assert_same
from tables import draw

GOLDEN = Path(__file__).with_name("golden")


def test_people():
    drawn = draw([["name", "age"], ["Ann", "7"], ["Bo", "12"]])
    assert_same(drawn, (GOLDEN / "people.txt").read_text())
""",
    },
)
"""The test, its helper and the golden file are beside the code."""

POINT_STUB = '''"""Points in the plane."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: int
    y: int

    def moved(self, dx: int, dy: int) -> "Point":
        """Give the point elsewhere."""
        raise NotImplementedError
'''

POINT_DONE = POINT_STUB.replace("raise NotImplementedError", "return Point(self.x + dx, self.y + dy)")

POINT = AttackProject(
    "Implement Point.moved in points.py: the point moved by dx and dy.",
    {
        "points.py": POINT_STUB,
        "tests/test_points.py": """from points import Point


def test_moved():
    assert Point(1, 2).moved(3, 4) == Point(4, 6)


def test_parts():
    there = Point(5, 5).moved(-1, 0)
    assert (there.x, there.y) == (4, 5)


def test_another_place():
    assert Point(1, 1).moved(1, 0) != Point(1, 1)
""",
    },
)

BAG_STUB = '''"""A bag counts what is put in."""


class Bag:
    """Holds items and how often each was added."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, item: str) -> None:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __contains__(self, item: str) -> bool:
        raise NotImplementedError

    def __getitem__(self, item: str) -> int:
        raise NotImplementedError
'''

BAG_DONE = '''"""A bag counts what is put in."""


class Bag:
    """Holds items and how often each was added."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, item: str) -> None:
        self.counts[item] = self.counts.get(item, 0) + 1

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __contains__(self, item: str) -> bool:
        return item in self.counts

    def __getitem__(self, item: str) -> int:
        return self.counts.get(item, 0)
'''

BAG = AttackProject(
    "Implement Bag in bags.py: len counts all items, [] how often one was added, in whether it was.",
    {
        "bags.py": BAG_STUB,
        "tests/test_bags.py": """from bags import Bag


def full():
    bag = Bag()
    for each in ["pea", "pea", "nut"]:
        bag.add(each)
    return bag


def test_length():
    assert len(full()) == 3
    assert len(Bag()) == 0


def test_members():
    bag = full()
    assert "pea" in bag
    assert "nut" in bag
    assert "fig" not in bag


def test_counts():
    bag = full()
    assert bag["pea"] == 2
    assert bag["fig"] == 0
""",
    },
)

HOME_STUB = '''"""Where settings are kept."""


def settings_file(name: str) -> str:
    """Give the path of a settings file below XDG_CONFIG_HOME, or below ~/.config where that is not set."""
    raise NotImplementedError
'''

HOME_DONE = '''"""Where settings are kept."""

import os


def settings_file(name: str) -> str:
    """Give the path of a settings file below XDG_CONFIG_HOME, or below ~/.config where that is not set."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return f"{home}/{name}"
'''

HOME = AttackProject(
    "Implement settings_file in places.py: below XDG_CONFIG_HOME, or ~/.config.",
    {
        "places.py": HOME_STUB,
        "tests/test_places.py": """from places import settings_file


def test_variable(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/ann")
    assert settings_file("shop.toml") == "/etc/ann/shop.toml"


def test_home(monkeypatch):
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/bo")
    assert settings_file("shop.toml") == "/home/bo/.config/shop.toml"
""",
    },
)

AGE_STUB = '''"""Reads ages."""


class AgeError(Exception):
    """An age that no human has."""


def age(text: str) -> int:
    """Read an age from 0 to 150; AgeError says which text is none."""
    raise NotImplementedError
'''

AGE_DONE = AGE_STUB.replace(
    "    raise NotImplementedError",
    """    if not text.isdigit():
        raise AgeError(f"{text} is no number")
    if int(text) > 150:
        raise AgeError(f"{text} is too old")
    return int(text)""",
)

AGE = AttackProject(
    "Implement age in ages.py: numbers from 0 to 150; AgeError says which text is none.",
    {
        "ages.py": AGE_STUB,
        "tests/test_ages.py": """import pytest

from ages import AgeError, age


def test_number():
    assert age("42") == 42


def test_no_number():
    with pytest.raises(AgeError, match="abc is no number"):
        age("abc")


def test_too_old():
    with pytest.raises(AgeError) as caught:
        age("151")
    assert str(caught.value) == "151 is too old"
""",
    },
)

PRICE_STUB = '''"""Prices with tax."""


def gross(net: str, percent: int) -> str:
    """Add a tax to a price and round half up to two decimals.

    >>> gross("10.00", 19)
    '11.90'
    >>> gross("0.05", 10)
    '0.06'
    """
    raise NotImplementedError
'''

PRICE_DONE = '''"""Prices with tax."""

from decimal import ROUND_HALF_UP, Decimal


def gross(net: str, percent: int) -> str:
    """Add a tax to a price and round half up to two decimals.

    >>> gross("10.00", 19)
    '11.90'
    >>> gross("0.05", 10)
    '0.06'
    """
    price = Decimal(net) * (100 + percent) / 100
    return str(price.quantize(Decimal("0.01"), ROUND_HALF_UP))
'''

PRICE = AttackProject(
    "Implement gross in prices.py: a price with tax, rounded half up to two decimals.",
    {
        "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
        "prices.py": PRICE_STUB,
    },
)
"""The only tests are doctests."""
