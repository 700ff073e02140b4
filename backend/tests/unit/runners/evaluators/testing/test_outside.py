"""Tests that run away from the candidate's code agree with good code."""

import pytest

from tests.unit.runners.evaluators.testing.outside_support import judged

pytestmark = pytest.mark.anyio

HONEST = """
import asyncio, collections, contextlib, dataclasses, enum, functools, logging, os, warnings
from decimal import Decimal
from pathlib import Path

LIMITS = {"low": [1, 2]}
log = logging.getLogger("honest")

class TooMuch(ValueError):
    def __init__(self, amount):
        super().__init__(f"too much: {amount}")
        self.amount = amount

class Account:
    kinds = ("plain",)
    def __init__(self, owner, entries=None):
        self.owner = owner
        self.entries = [] if entries is None else entries
    def pay(self, amount):
        if amount > 100:
            raise TooMuch(amount)
        self.entries.append(amount)
        return self
    @property
    def total(self):
        return sum(self.entries)
    def __len__(self):
        return len(self.entries)
    def __iter__(self):
        return iter(self.entries)
    def __contains__(self, amount):
        return amount in self.entries
    def __getitem__(self, index):
        return self.entries[index]

class Savings(Account):
    @classmethod
    def open(cls):
        return cls("nobody")

@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int

class Marked:
    __slots__ = ("mark",)

class Sealed(Marked):
    __slots__ = ("value", "mark")

    def __init__(self, value):
        self.value, self.mark = value, 1

    def __eq__(self, other):
        return isinstance(other, Sealed) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Level(enum.IntEnum):
    LOW = 1

Pair = collections.namedtuple("Pair", "left right")

class Name(str):
    def shout(self):
        return self.upper() + "!"

def add(a, b):
    return a + b

def order(values):
    values.sort()

def count(text):
    return collections.Counter(text)

def first(stop):
    for number in range(stop):
        yield number

def echo():
    received = None
    while True:
        received = yield received

def apply(function, *args, **options):
    return function(*args, **options)

def say(text):
    print(text)

def old():
    warnings.warn("use new()", DeprecationWarning, stacklevel=2)
    log.warning("old is called")

async def later(value):
    await asyncio.sleep(0)
    return value

def write(path, text):
    Path(path).write_text(text)

def variable(name):
    return os.environ.get(name)

@contextlib.contextmanager
def opened(events):
    events.append("open")
    yield len(events)
    events.append("closed")

def fetch():
    return "real"

def use():
    return fetch()

def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) * 2
    return wrapper

def price():
    return Decimal("1.10")

def half(text):
    int(text)
    return 1 / 0

def same(value):
    return value

def pair():
    return Pair(1, [2])

def huge():
    return 10 ** 5000

def tree():
    loop = [1]
    loop.append(loop)
    return loop
"""

CARRIED = '''
import asyncio, datetime, operator
from decimal import Decimal
import pytest
import honest
from honest import *

def test_plain():
    assert add(1, 2) == 3 and add("a", "b") == "ab" and add([1], [(2, None)]) == [1, (2, None)]
    assert honest.price() == Decimal("1.1") and huge() == 10 ** 5000

def test_mutated_in_place():
    values = [3, 1, 2]
    assert order(values) is None
    assert values == [1, 2, 3]

def test_returned_itself():
    values = {"a": {1, 2}}
    assert same(values) is values and same(values["a"]) is values["a"]

def test_cyclic():
    loop = tree()
    assert loop[0] == 1 and loop[1] is loop

def test_counter():
    assert count("abca") == {"a": 2, "b": 1, "c": 1} and count("aab").most_common(1) == [("a", 2)]

def test_errors():
    with pytest.raises(TooMuch, match="too much: 101") as caught:
        Account("me").pay(101)
    assert caught.value.amount == 101 and isinstance(caught.value, ValueError)
    with pytest.raises(ZeroDivisionError):
        half("1")
    with pytest.raises(ValueError, match="invalid literal"):
        half("x")
    with pytest.raises(TypeError):
        add(1)
    with pytest.raises(AttributeError):
        honest.nothing

def test_raised_by_the_test():
    with pytest.raises(TooMuch):
        raise TooMuch(3)

def test_lazy():
    pulled = first(10 ** 12)
    assert next(pulled) == 0 and next(pulled) == 1
    assert list(first(3)) == [0, 1, 2]

def test_sent_into_a_generator():
    talk = echo()
    next(talk)
    assert talk.send("a") == "a"
    talk.close()

def test_callbacks():
    seen = []
    assert apply(lambda a, b=0: seen.append(a) or a + b, 1, b=2) == 3
    assert seen == [1]
    assert apply(operator.add, 1, 2) == 3 and apply(max, [1, 5]) == 5
    with pytest.raises(KeyError):
        apply(lambda: {}["x"])
    assert apply(lambda: add(1, 1)) == 2

def test_objects():
    account = Account("me")
    assert account.pay(5).pay(7) is account
    assert account.total == 12 and len(account) == 2 and list(account) == [5, 7] and 5 in account
    assert account[0] == 5 and account[-1:] == [7]
    account.owner = "you"
    assert account.owner == "you"
    assert not Account("me") and account

def test_shared_with_an_object():
    mine = [1]
    account = Account("me", mine)
    account.pay(2)
    assert mine == [1, 2]
    mine.append(3)
    assert account.total == 6
    account.entries.append(4)
    assert mine == [1, 2, 3, 4] and account.entries is mine

def test_classes():
    savings = Savings.open()
    assert isinstance(savings, Account) and type(savings) is Savings and issubclass(Savings, Account)
    assert not isinstance(Account("me"), Savings) and Savings.kinds == ("plain",)
    assert savings.__class__.__name__ == "Savings" and savings.owner == "nobody"

def test_equal_state():
    assert Point(1, 2) == Point(1, 2) and len({Point(1, 2), Point(1, 2)}) == 1

def test_equal_slots():
    assert Sealed(1) != Sealed(2) and Sealed(1) == Sealed(1)

def test_enums():
    assert Colour(1) is Colour.RED and Colour["BLUE"].value == 2 and list(Colour) == [Colour.RED, Colour.BLUE]
    assert Level.LOW == 1 and Level.LOW + 1 == 2

def test_derived_from_built_in_types():
    assert pair() == (1, [2]) and pair().left == 1 and pair()._replace(left=3) == (3, [2])
    assert Name("a") == "a" and Name("a").shout() == "A!" and Name("ab").title() == "Ab"

def test_printed(capsys):
    say("hello")
    assert capsys.readouterr().out == "hello\\n"

def test_warned(caplog):
    with pytest.warns(DeprecationWarning, match="new"):
        old()
    assert "old is called" in caplog.text

def test_awaited():
    assert asyncio.run(later(3)) == 3

def test_files(tmp_path):
    write(tmp_path / "a.txt", "text")
    assert (tmp_path / "a.txt").read_text() == "text"

def test_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SOME_NAME", "x")
    assert variable("SOME_NAME") == "x"
    monkeypatch.chdir(tmp_path)
    write("b.txt", "b")
    assert (tmp_path / "b.txt").exists()

def test_context():
    events = []
    with opened(events) as number:
        assert number == 1
    assert events == ["open", "closed"]

def test_patched(monkeypatch):
    monkeypatch.setattr(honest, "fetch", lambda: "fake")
    assert use() == "fake"
    monkeypatch.undo()
    assert use() == "real"

def test_decorator():
    @twice
    def three():
        """Three."""
        return 3
    assert three() == 6 and three.__name__ == "three" and three.__doc__ == "Three."

@pytest.mark.parametrize("number", list(first(3)))
def test_parametrized(number):
    assert number in LIMITS["low"] + [0]
'''

NOT_CARRIED = """
import pickle, threading, subprocess, sys
import pytest
import honest
from honest import *

def test_derived_class():
    class Mine(Account):
        pass
    assert Mine("me").owner == "me"

def test_pickled():
    assert pickle.loads(pickle.dumps(Account("me"))).owner == "me"

def test_own_process():
    assert subprocess.run([sys.executable, "-c", "import honest"]).returncode == 0

def test_own_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(add(1, 2)))
    thread.start()
    thread.join()
    assert found == [3]

def test_identity():
    word = "".join(["a", "b"])
    assert same(word) is word

def test_source():
    assert "def add" in open(honest.__file__).read()

def test_skipped_there():
    if "honest" in sys.modules and type(sys.modules["honest"]).__name__ != "module":
        pytest.skip("elsewhere")

def test_own_equality():
    assert Money(3) == 3
"""

MONEY = """
class Money:
    def __init__(self, amount):
        self.amount = amount
    def __eq__(self, other):
        return self.amount == other
"""


async def test_good_code_agrees(tree) -> None:
    root = tree({"honest.py": HONEST, "tests/test_carried.py": CARRIED})
    passed, report = await judged(root)
    assert len(passed) == CARRIED.count("\ndef test_") + 2
    assert dict(report.disagrees) == {}
    assert dict(report.uncarried) == {}
    assert list(report.agrees) == passed


BY_IDENTITY = """
import unittest

from honest import same


class Words(unittest.TestCase):
    def test_same(self):
        word = "".join(["two ", "words"])
        self.assertIs(same(word), word)

    def test_other(self):
        self.assertIsNot(same([1]), [1])
"""


async def test_an_assertion_about_identity_is_left_to_the_other_run(tree) -> None:
    root = tree({"honest.py": HONEST, "tests/test_identity.py": BY_IDENTITY})
    passed, report = await judged(root)
    assert (len(passed), dict(report.disagrees)) == (2, {})
    assert "by identity" in report.uncarried["tests/test_identity.py::Words::test_same"]


async def test_what_cannot_be_carried_is_left_to_the_other_run(tree) -> None:
    root = tree({"honest.py": HONEST + MONEY, "tests/test_not.py": NOT_CARRIED})
    passed, report = await judged(root)
    assert len(passed) == NOT_CARRIED.count("\ndef test_")
    assert dict(report.disagrees) == {}
    assert list(report.uncarried) == passed


FETCHES = """
import httpx

def fetch(url):
    raise httpx.ConnectError(f"no answer from {url}", request=httpx.Request("GET", url))

def settled(call):
    try:
        return call()
    except httpx.HTTPError as error:
        return f"failed: {error}"
"""

CATCHES = """
import httpx
import pytest

import fetches


def test_raised_by_the_code():
    with pytest.raises(httpx.TransportError, match="no answer from http://here"):
        fetches.fetch("http://here")


def test_raised_by_the_test():
    def call():
        raise httpx.ReadTimeout("too late")

    assert fetches.settled(call) == "failed: too late"
"""


async def test_exceptions_of_installed_packages_are_the_same_on_both_sides(tree) -> None:
    passed, report = await judged(tree({"fetches.py": FETCHES, "tests/test_catches.py": CATCHES}))
    assert list(report.agrees) == passed
    assert len(passed) == CATCHES.count("\ndef test_")
