"""What tests set is set for the code in the other process, restored there, and names no test."""

import pytest

from tests.unit.runners.evaluators.testing.outside_support import judged

pytestmark = pytest.mark.anyio

CODE = """
import os
from datetime import date

def year():
    return date.today().year

def tested():
    return "PYTEST_CURRENT_TEST" in os.environ

def answer():
    for each in os.environ.values():
        if "test_answer[" in each:
            return int(each.partition("[")[2].partition("]")[0])
"""
PATCHES = """
from datetime import date
from unittest.mock import patch

import pytest

import dates

def frozen(number):
    class Frozen(date):
        @classmethod
        def today(cls):
            return cls(number, 1, 1)
    return Frozen

def test_twice(monkeypatch):
    monkeypatch.setattr(dates, "date", frozen(1980))
    assert dates.year() == 1980
    monkeypatch.setattr(dates, "date", frozen(1990))
    assert dates.year() == 1990

def test_one_in_the_other():
    with patch.object(dates, "date", frozen(1980)):
        with patch.object(dates, "date", frozen(1990)):
            assert dates.year() == 1990
        assert dates.year() == 1980

def test_afterwards():
    assert dates.year() > 1990
"""
VARIABLES = """
import pytest

import dates

def test_tested():
    assert dates.tested()

@pytest.mark.parametrize("number", [7, 8])
def test_answer(number):
    assert dates.answer() == number
"""


async def test_changes_of_the_same_name_are_undone_one_after_the_other(tree) -> None:
    passed, report = await judged(tree({"dates.py": CODE, "test_dates.py": PATCHES}))
    assert len(passed) == 3
    assert sorted(report.agrees) == sorted(passed), (report.uncarried, report.disagrees)


async def test_code_can_ask_whether_a_test_runs_and_not_which(tree) -> None:
    passed, report = await judged(tree({"dates.py": CODE, "test_dates.py": VARIABLES}))
    assert len(passed) == 3, "the forgery does not work beside the test"
    assert list(report.agrees) == ["test_dates.py::test_tested"]
    assert sorted(report.disagrees) == ["test_dates.py::test_answer[7]", "test_dates.py::test_answer[8]"]
