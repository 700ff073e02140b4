"""What is drawn makes each test wrong in one place, and leaves everything else as it is."""

import ast
from random import Random

import pytest

from app.runners.evaluators.testing.counter_tests.drawing import (
    WrongExpectation,
    draw,
    draw_all,
    rewritten,
    units_of,
)
from app.runners.evaluators.testing.counter_tests.reading import TestFile, read_test_file
from app.runners.evaluators.testing.counter_tests.sampling import (
    CounterTestBudget,
    Nearness,
    RunTimes,
    sample,
)
from app.runners.evaluators.testing.counter_tests.sites import Kind
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport


def read(text: str, name: str = "test_x.py") -> TestFile:
    file = read_test_file(name, text.encode())
    assert file is not None
    return file


def drawn(text: str, ids: list[str], seed: int = 1) -> tuple[TestFile, list[WrongExpectation]]:
    file = read(text)
    chance = Random(seed)
    return file, [each for unit in units_of([file], ids) for each in draw(unit, chance, ids, {})]


PLAIN = """def test_one():
    assert f(1) == "one"

def test_two():
    assert f(2) == '''two
    and more''', (
        "why"
    )

def test_three():
    f(3)
"""


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_file_differs_in_the_expectations_and_in_no_line(seed: int) -> None:
    ids = ["test_x.py::test_one", "test_x.py::test_two", "test_x.py::test_three"]
    file, changes = drawn(PLAIN, ids, seed)
    assert [each.tests for each in changes] == [(ids[0],), (ids[1],)]
    text = rewritten(file, changes, [])
    assert text is not None
    before, after = ast.parse(PLAIN), ast.parse(text)
    assert [each.lineno for each in before.body] == [each.lineno for each in after.body]
    assert [ast.dump(one) == ast.dump(two) for one, two in zip(before.body, after.body, strict=True)] == [
        False,
        False,
        True,
    ]


def test_values_come_before_contraries() -> None:
    for seed in range(20):
        _, changes = drawn(
            "def test_x():\n    assert f() == 1\n    assert g() < 2\n", ["test_x.py::test_x"], seed
        )
        assert [each.site.kind for each in changes] == [Kind.VALUE]


ROWS_ONLY = """@pytest.mark.parametrize("a, b", [(1, "I"), (2, "II")])
def test_x(a, b):
    assert f(a) == b
"""
ROWS = """@pytest.mark.parametrize("a, b", [(1, "I"), (2, "II")])
def test_x(a, b):
    assert f(a) == b
    assert g() == 3
"""


def test_rows_come_before_contraries() -> None:
    ids = ["test_x.py::test_x[1-I]", "test_x.py::test_x[2-II]"]
    for seed in range(30):
        assert [each.tests for each in drawn(ROWS_ONLY, ids, seed)[1]] == [(ids[0],), (ids[1],)]


def test_each_row_is_changed_for_itself() -> None:
    ids = ["test_x.py::test_x[1-I]", "test_x.py::test_x[2-II]"]
    seen = {tuple(each.tests for each in drawn(ROWS, ids, seed)[1]) for seed in range(30)}
    assert seen == {((ids[0],), (ids[1],)), ((*ids,),)}


def test_rows_are_left_alone_when_there_are_more_tests_than_rows() -> None:
    ids = [f"test_x.py::test_x[{each}]" for each in "abc"]
    for seed in range(10):
        assert [each.site.kind for each in drawn(ROWS_ONLY, ids, seed)[1]] == [Kind.CONTRARY]


def test_what_went_unnoticed_is_changed_into_something_else() -> None:
    ids = ["test_x.py::test_one"]
    file = read(PLAIN)
    unit = units_of([file], ids)[0]
    for seed in range(20):
        chance = Random(seed)
        first = draw(unit, chance, ids, {})[0]
        second = draw(unit, chance, ids, {ids[0]: first})[0]
        assert second.site == first.site
        assert second.edits != first.edits


def test_inherited_tests_are_changed_where_they_are_written() -> None:
    base = read("class Base:\n    def test_a(self):\n        assert f() == 1\n", "test_base.py")
    sub = read("class TestSub(test_base.Base):\n    def test_b(self):\n        pass\n", "test_sub.py")
    units = units_of([base, sub], ["test_sub.py::TestSub::test_a", "test_sub.py::TestSub::test_b"])
    assert [(each.file.name, each.function.name) for each in units] == [
        ("test_base.py", "Base::test_a"),
        ("test_sub.py", "TestSub::test_b"),
    ]


def test_imported_tests_are_changed_where_they_are_written() -> None:
    base = read("class TestBase:\n    def test_a(self):\n        assert f() == 1\n", "test_base.py")
    other = read("from test_base import TestBase\n", "test_other.py")
    units = units_of([base, other], ["test_base.py::TestBase::test_a", "test_other.py::TestBase::test_a"])
    assert [(each.file.name, len(each.tests)) for each in units] == [("test_base.py", 2)]
    assert (
        units_of([base, other], ["test_other.py::TestBase::test_b", "test_other.py::TestGone::test_a"]) == []
    )


def test_classes_that_inherit_from_each_other_end() -> None:
    file = read("class TestA(TestB):\n    x = 1\n\nclass TestB(TestA):\n    y = 1\n")
    assert units_of([file], ["test_x.py::TestA::test_a"]) == []


def test_tests_that_are_not_run_are_hidden() -> None:
    file, _ = drawn(PLAIN, [])
    text = rewritten(file, [], [file.functions["test_one"], file.functions["test_three"]])
    assert text is not None
    assert [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)] == [
        "xest_one",
        "test_two",
        "xest_three",
    ]


def test_a_file_that_would_be_no_program_is_given_up() -> None:
    file, changes = drawn(PLAIN, ["test_x.py::test_one"])
    assert rewritten(file, [*changes, *drawn(PLAIN, ["test_x.py::test_one"], 2)[1]], []) is None


def test_only_as_many_tests_are_drawn_as_there_is_time_for() -> None:
    text = "".join(f"def test_{n}():\n    assert f() == {n}\n" for n in range(10))
    ids = [f"test_x.py::test_{n}" for n in range(10)]
    plain = RunReport(
        PytestEnding.COMPLETE,
        tests={each: RanTest(each, Outcome.PASSED, 1.0, "") for each in ids},
        ids=tuple(ids),
    )
    units = units_of([read(text)], ids)
    times = RunTimes(plain)

    def drawn(budget: CounterTestBudget) -> int:
        return len(sample(units, times, budget, Random(1), Nearness()))

    for free, number in ((2.0, 1), (8.0, 1), (8.5, 2), (9.0, 5), (9.5, 7), (10.0, 10), (30.0, 10)):
        assert drawn(CounterTestBudget(free=free, share=0.1)) == number
    assert drawn(CounterTestBudget(free=3.0, share=0.3)) == 3
    assert drawn(CounterTestBudget(free=3.0, share=0.9)) == 3
    assert CounterTestBudget(free=3.0, pairs=2).rounds(10.0) == 1
    assert CounterTestBudget(free=30.0, pairs=2).rounds(10.0) == 2


@pytest.mark.parametrize("seed", range(8))
def test_tests_near_a_change_come_first(seed: int) -> None:
    text = "".join(f"def test_{n}():\n    assert part_{n}() == {n}\n" for n in range(40))
    ids = [f"test_x.py::test_{n}" for n in range(40)]
    tests = {each: RanTest(each, Outcome.PASSED, 1.0, "") for each in ids}
    times = RunTimes(RunReport(PytestEnding.COMPLETE, tests=tests, ids=tuple(ids)))
    units, budget = units_of([read(text)], ids), CounterTestBudget(share=0.2)
    near = Nearness(is_wanted=ids[7].__eq__, distances={"part_3": 0, "part_9": 1, "part_30": 1, "part_12": 2})
    drawn = {each.function.name for each in sample(units, times, budget, Random(seed), near)}
    assert len(drawn) == 8, "a fifth of the time"
    assert {"test_7", "test_3", "test_9", "test_30", "test_12"} <= drawn


def test_some_time_is_left_for_any_tests() -> None:
    text = "".join(f"def test_{n}():\n    assert {'near' if n < 20 else 'far'}() == {n}\n" for n in range(40))
    ids = [f"test_x.py::test_{n}" for n in range(40)]
    tests = {each: RanTest(each, Outcome.PASSED, 1.0, "") for each in ids}
    times = RunTimes(RunReport(PytestEnding.COMPLETE, tests=tests, ids=tuple(ids)))
    units, near = units_of([read(text)], ids), Nearness(distances={"near": 0})
    drawn = [sample(units, times, CounterTestBudget(share=0.2), Random(seed), near) for seed in range(20)]
    far = [sum("far" in each.function.words for each in units) for units in drawn]
    assert max(far) == 2, "a quarter of eight"
    assert min(far) < 2, "any of them, the near ones included"


def test_each_test_has_a_share_of_the_time_that_the_run_takes_beside_them() -> None:
    ids = [f"test_x.py::test_{n}" for n in range(4)]
    tests = {each: RanTest(each, Outcome.PASSED, 1.0, "") for each in ids}
    alone = RunTimes(RunReport(PytestEnding.COMPLETE, tests=tests, seconds=6.0))
    assert (alone.whole, alone.of(ids[:2])) == (6.0, 3.0)
    shared = RunTimes(RunReport(PytestEnding.COMPLETE, tests=tests, seconds=2.5))
    assert (shared.whole, shared.of(ids[:2])) == (4.0, 2.0)
    slow_to_start = RunTimes(RunReport(PytestEnding.COMPLETE, tests=tests, seconds=60.0))
    assert (slow_to_start.whole, slow_to_start.of(ids[:2])) == (10.0, 5.0)


PATHS = """def test_one():
    assert place("shop") == "/etc/ann/shop"

def test_two():
    assert place("menu") == "/srv/bob/menu"
"""


def test_code_that_knows_only_the_end_of_a_text_meets_both_ends() -> None:
    """A misspelt beginning goes unnoticed, whatever chance decides; the same third is changed again."""
    file = read(PATHS)
    ids = ["test_x.py::test_one", "test_x.py::test_two"]
    for seed in range(40):
        chance = Random(seed)
        changes = draw_all(units_of([file], ids), chance, ids, {})
        assert {each.late for each in changes} == {True, False}
        early = next(each for each in changes if not each.late)
        (test,) = early.tests
        ends = {text.strip('"')[-5:] for text in (early.says, again(file, ids, chance, test, early).says)}
        assert ends <= {"/shop", "/menu"}


def again(
    file: TestFile, ids: list[str], chance: Random, test: str, before: WrongExpectation
) -> WrongExpectation:
    """What is drawn after a change that went unnoticed."""
    (change,) = draw_all(
        [each for each in units_of([file], ids) if test in each.tests], chance, [test], {test: before}
    )
    assert change.edits != before.edits
    return change
