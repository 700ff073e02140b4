"""What a test's source says about its failure away from the code. Of a class, only its own parts count."""

from abc import ABCMeta
from numbers import Number
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.runners.evaluators.testing.pytest_outside.doubts import SourceDoubts

_FILE = """
import sys, copy, random, threading

WAYS = [copy.copy]

def by_chance():
    return random.random()

class Base(unittest.TestCase):
    kind = None
    def setUp(self):
        self.text = "a"
    def inherited(self):
        threading.Thread()
    def test_base(self):
        self.inherited()

class Case(Base):
    def helper(self):
        return self.deeper()
    def deeper(self):
        return by_chance()
    def test_plain(self):
        self.assertEqual(f("a"), 1)
    def test_size(self):
        self.assertGreater(sys.getsizeof(f("a")), 1)
    def test_helper(self):
        self.assertEqual(f(self.helper()), 1)
    def test_same(self):
        self.assertIs(f("a"), "a")

class Wide(unittest.TestCase):
    way = WAYS[0]
    def test_plain(self):
        self.assertEqual(f("a"), 1)

class Around(unittest.TestCase):
    def setUp(self):
        self.id = sys.platform
    def test_plain(self):
        self.assertEqual(f("a"), 1)

class Made(unittest.TestCase):
    def test(self):
        self.assertEqual(f("a"), 1)
    for number in range(3):
        locals()[f"test_{number}"] = test

class Outer:
    class Inner:
        def test_plain(self):
            assert f("a") == 1
        def test_size(self):
            assert sys.getsizeof(f("a"))

def test_function():
    assert f("a") == 1

def ready():
    return copy.copy
"""


@pytest.fixture
def doubts(tmp_path: Path) -> Any:
    (tmp_path / "test_it.py").write_text(_FILE)

    def about(place: str, *fixtures: str) -> list[str]:
        item: Any = SimpleNamespace(
            path=tmp_path / "test_it.py", nodeid=f"test_it.py::{place}", fixturenames=fixtures
        )
        return SourceDoubts().about(item)

    return about


def test_of_a_class_only_the_parts_of_the_test_count(doubts: Any) -> None:
    assert doubts("Case::test_plain") == []
    assert doubts("Case::test_size") == ["sys"]


def test_helpers_of_the_class_and_its_bases_count(doubts: Any) -> None:
    assert doubts("Case::test_helper") == ["random"]
    assert doubts("Case::test_base") == ["Thread", "threading"]
    assert doubts("Case::test_same") == ["by identity"]


def test_what_runs_around_each_test_counts(doubts: Any) -> None:
    assert doubts("Wide::test_plain") == ["copy"]
    assert doubts("Around::test_plain") == ["id", "platform", "sys"]


def test_a_class_counts_as_a_whole_if_the_test_is_not_found_in_it(doubts: Any) -> None:
    assert doubts("Made::test_1") == ["locals"]
    assert doubts("Outer::Inner::test_plain") == ["sys"]


def test_fixtures_count_for_functions(doubts: Any) -> None:
    assert doubts("test_function") == []
    assert doubts("test_function[a]", "ready") == ["copy"]


ABSTRACT = """
def test_number():
    assert isinstance(f(1), Number)


def test_plain():
    assert isinstance(f(1), Plain) and Number


def test_of_the_code():
    assert isinstance(f(1), Theirs)
"""


@pytest.mark.parametrize(
    ("test", "doubts"),
    [
        pytest.param("test_number", ["the abstract class Number"], id="asked for"),
        pytest.param("test_plain", [], id="only named"),
        pytest.param("test_of_the_code", [], id="of the code"),
    ],
)
def test_an_abstract_class_knows_its_classes_in_another_process(
    tmp_path: Path, test: str, doubts: list[str]
) -> None:
    (tmp_path / "test_it.py").write_text(ABSTRACT)
    theirs = ABCMeta("Theirs", (), {"__module__": "module_of_the_candidate"})
    names = SimpleNamespace(Number=Number, Plain=int, Theirs=theirs)
    item: Any = SimpleNamespace(
        path=tmp_path / "test_it.py", nodeid=f"test_it.py::{test}", fixturenames=(), module=names
    )
    assert SourceDoubts().about(item) == doubts
