"""A test is proven when it notices, and refuted only when nothing honest explains that it does not."""

from dataclasses import replace
from random import Random

import pytest

from app.runners.evaluators.testing.counter_tests.comparing import (
    CounterTestOutcome,
    CounterTestResult,
    Half,
    answers_by_test,
    compare,
)
from app.runners.evaluators.testing.counter_tests.drawing import WrongExpectation, draw, units_of
from app.runners.evaluators.testing.counter_tests.reading import read_test_file
from app.runners.evaluators.testing.counter_tests.sampling import CounterTestBudget
from app.runners.evaluators.testing.counter_tests.sorting import (
    failing_in_all,
    refuted,
    sort_tests,
    speechless,
    suspects,
    touchy,
    unnoticed_twice,
    worth_asking,
)
from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport

TEST = "test_x.py::test_x"


def change(assertion: str = "assert f() == 1", ids: tuple[str, ...] = (TEST,)) -> WrongExpectation:
    file = read_test_file("test_x.py", f"def test_x():\n    {assertion}\n".encode())
    assert file is not None
    return draw(units_of([file], ids)[0], Random(1), ids, {})[0]


CHANGE = change()
UNSURE = change("assert f() == P(1)")


def report(*outcomes: tuple[str, Outcome]) -> RunReport:
    tests = {name: RanTest(name, outcome, 0.1, "") for name, outcome in outcomes}
    return RunReport(PytestEnding.COMPLETE, tests=tests, ids=tuple(tests))


@pytest.mark.parametrize(
    ("wrong", "true", "answer"),
    [
        pytest.param(Outcome.FAILED, Outcome.PASSED, CounterTestOutcome.NOTICED, id="noticed"),
        pytest.param(Outcome.ERROR, Outcome.PASSED, CounterTestOutcome.NOTICED, id="noticed in its set-up"),
        pytest.param(Outcome.PASSED, Outcome.PASSED, CounterTestOutcome.UNNOTICED, id="unnoticed"),
        pytest.param(Outcome.FAILED, Outcome.FAILED, CounterTestOutcome.DISTURBED, id="fails in any case"),
        pytest.param(Outcome.PASSED, Outcome.SKIPPED, CounterTestOutcome.DISTURBED, id="skipped as it is"),
        pytest.param(Outcome.SKIPPED, Outcome.PASSED, CounterTestOutcome.SILENT, id="skipped when wrong"),
        pytest.param(Outcome.XFAILED, Outcome.PASSED, CounterTestOutcome.SILENT, id="expected to fail"),
        pytest.param(Outcome.CUT, Outcome.PASSED, CounterTestOutcome.SILENT, id="takes too long when wrong"),
        pytest.param(Outcome.PASSED, Outcome.CUT, CounterTestOutcome.SILENT, id="takes too long as it is"),
        pytest.param(None, Outcome.PASSED, CounterTestOutcome.SILENT, id="missing when wrong"),
        pytest.param(Outcome.PASSED, None, CounterTestOutcome.SILENT, id="missing as it is"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_answers(
    wrong: Outcome | None, true: Outcome | None, answer: CounterTestOutcome, *, turned: bool
) -> None:
    one = Half((CHANGE,), report((TEST, wrong)) if wrong else report())
    two = Half((), report((TEST, true)) if true else report())
    assert [each.answer for each in compare((two, one) if turned else (one, two))] == [answer]


def test_tests_whose_parameters_changed_are_found_by_their_place() -> None:
    both = change(ids=(f"{TEST}[1-I]", f"{TEST}[2-II]"))
    wrong = report((f"{TEST}[1-X]", Outcome.FAILED), (f"{TEST}[2-II]", Outcome.PASSED))
    true = report((f"{TEST}[1-I]", Outcome.PASSED), (f"{TEST}[2-II]", Outcome.PASSED))
    answered = compare((Half((both,), wrong), Half((), true)))
    assert [(each.test, each.answer) for each in answered] == [
        (f"{TEST}[1-I]", CounterTestOutcome.NOTICED),
        (f"{TEST}[2-II]", CounterTestOutcome.UNNOTICED),
    ]


def test_tests_in_another_order_are_found_by_their_ids() -> None:
    """Their parameters come from a set: each process has its own order."""
    both = change(ids=(f"{TEST}[a]", f"{TEST}[b]"))
    wrong = report((f"{TEST}[b]", Outcome.PASSED), (f"{TEST}[a]", Outcome.FAILED))
    true = report((f"{TEST}[a]", Outcome.PASSED), (f"{TEST}[b]", Outcome.PASSED))
    answered = compare((Half((both,), wrong), Half((), true)))
    assert {each.test: each.answer for each in answered} == {
        f"{TEST}[a]": CounterTestOutcome.NOTICED,
        f"{TEST}[b]": CounterTestOutcome.UNNOTICED,
    }


def test_a_function_with_fewer_tests_than_before_says_nothing() -> None:
    both = change(ids=(f"{TEST}[1-I]", f"{TEST}[2-II]"))
    one = report((f"{TEST}[1-I]", Outcome.PASSED))
    assert {each.answer for each in compare((Half((both,), one), Half((), one)))} == {
        CounterTestOutcome.SILENT
    }


def answers(answer: CounterTestOutcome, of: WrongExpectation = CHANGE) -> dict[str, CounterTestResult]:
    return answers_by_test([CounterTestResult(TEST, of, answer)])


def judged(
    first: CounterTestOutcome,
    again: CounterTestOutcome,
    honest: list[CounterTestOutcome],
    of: WrongExpectation = CHANGE,
) -> str:
    """Say what becomes of a test that answers so twice, and the base's code as given."""
    pairs = [answers(first, of), answers(again, of)]
    twice = unnoticed_twice(suspects(pairs[:1]), pairs[1])
    against = refuted(twice.values(), [answers(each, of) for each in honest])
    found = sort_tests(pairs, against, {TEST: "nothing was tried"})
    if found.refuted:
        return "refuted"
    return "proven" if found.proven else "unproven"


N, U, D, S = (
    CounterTestOutcome.NOTICED,
    CounterTestOutcome.UNNOTICED,
    CounterTestOutcome.DISTURBED,
    CounterTestOutcome.SILENT,
)


@pytest.mark.parametrize(
    ("first", "again", "honest", "verdict"),
    [
        pytest.param(N, N, [], "proven", id="noticed"),
        pytest.param(U, N, [], "proven", id="noticed at last"),
        pytest.param(D, D, [], "unproven", id="disturbed"),
        pytest.param(S, S, [], "unproven", id="silent"),
        pytest.param(U, D, [], "unproven", id="once is not enough"),
        pytest.param(U, U, [], "refuted", id="twice"),
        pytest.param(U, U, [D], "refuted", id="the base fails the test, too"),
        pytest.param(U, U, [S], "refuted", id="the base says nothing"),
        pytest.param(U, U, [N], "refuted", id="the base notices"),
        pytest.param(U, U, [U], "unproven", id="the base does not notice either"),
        pytest.param(U, U, [N, U], "unproven", id="the base does not always notice either"),
    ],
)
def test_verdicts_where_honest_code_is_sure_to_notice(first, again, honest, verdict) -> None:
    assert judged(first, again, honest) == verdict


@pytest.mark.parametrize(
    ("honest", "verdict"),
    [
        pytest.param([], "unproven", id="nobody else was asked"),
        pytest.param([D], "unproven", id="the base fails the test, too"),
        pytest.param([N, S], "unproven", id="the base says too little"),
        pytest.param([U], "unproven", id="the base does not notice either"),
        pytest.param([N, N], "refuted", id="the base notices"),
    ],
)
def test_verdicts_where_honest_code_may_not_notice(honest, verdict) -> None:
    assert not UNSURE.site.certain
    assert judged(U, U, honest, UNSURE) == verdict


def test_every_test_is_in_one_part_of_the_report() -> None:
    found = sort_tests([answers(N)], {}, {TEST: "a", "other": "b"})
    assert (found.proven, dict(found.unproven), found.judged) == ((TEST,), {"other": "b"}, True)
    assert found.metadata() == {
        "proven": 1,
        "unproven": 1,
        "refuted": [],
        "reasons": {"b": 1},
        "seconds": 0.0,
    }


@pytest.mark.parametrize(
    ("first", "again", "is_speechless"),
    [(D, D, True), (S, D, True), (D, N, False), (S, U, False), (N, N, False)],
)
def test_tests_that_never_answered(first, again, *, is_speechless: bool) -> None:
    assert speechless([answers(first), answers(again)]) == ({TEST} if is_speechless else set())


TORN, LATE = (replace(report(), ending=each) for each in (PytestEnding.TORN, PytestEnding.TIMED_OUT))
GOOD, BAD, GONE = report((TEST, Outcome.PASSED)), report((TEST, Outcome.FAILED)), report()


@pytest.mark.parametrize(
    ("touched", "plain", "base", "found"),
    [
        pytest.param([BAD, BAD], GOOD, [], True, id="fails when touched"),
        pytest.param([BAD, GONE], GOOD, [], True, id="is gone when touched"),
        pytest.param(
            [BAD, replace(GONE, ending=PytestEnding.TORN)], GOOD, [], True, id="ends the run when touched"
        ),
        pytest.param(
            [BAD, replace(GONE, ending=PytestEnding.TIMED_OUT)], GOOD, [], False, id="takes too long"
        ),
        pytest.param([BAD, GOOD], GOOD, [], False, id="fails now and then"),
        pytest.param([BAD, BAD], BAD, [], False, id="fails anyway"),
        pytest.param([BAD, BAD], GOOD, [BAD, GOOD], False, id="so does the base"),
        pytest.param([BAD, BAD], GOOD, [BAD, BAD], True, id="the base fails anyway"),
        pytest.param([BAD, BAD], GOOD, [GOOD, GOOD], True, id="the base does not"),
    ],
)
def test_tests_that_know_their_own_text(touched, plain, base, *, found: bool) -> None:
    assert set(touchy(failing_in_all([TEST], touched), plain, base)) == ({TEST} if found else set())


@pytest.mark.parametrize(
    ("of", "honest", "asked"),
    [
        pytest.param(CHANGE, [], True, id="sure"),
        pytest.param(CHANGE, [U], False, id="sure, and the base does not notice"),
        pytest.param(UNSURE, [], False, id="unsure"),
        pytest.param(UNSURE, [D], False, id="unsure, and the base fails the test"),
        pytest.param(UNSURE, [N], True, id="unsure, and the base notices"),
    ],
)
def test_only_what_the_base_does_not_clear_is_asked_again(of, honest, *, asked: bool) -> None:
    found = worth_asking(answers(U, of), [answers(each, of) for each in honest])
    assert set(found) == ({TEST} if asked else set())


def test_a_test_that_takes_too_long_when_touched_is_not_held_to_know_its_text() -> None:
    cut = report((TEST, Outcome.CUT))
    assert failing_in_all([TEST], [cut, cut]) == []
    assert failing_in_all([TEST], [report((TEST, Outcome.FAILED))] * 2) == [TEST]


def test_the_limit_of_a_test_moves_with_the_machine() -> None:
    """Ten times its own time, or a little and a twentieth of the run; rows share the longest."""
    seconds = {"t.py::slow[1]": 4.0, "t.py::slow[2]": 0.5, "t.py::quick": 0.001}
    tests = {name: RanTest(name, Outcome.PASSED, each, "") for name, each in seconds.items()}
    run = RunReport(PytestEnding.COMPLETE, tests=tests, seconds=20.0)
    assert CounterTestBudget().limits(run) == {"t.py::slow": 40.0, "t.py::quick": 2.25}
    slower = replace(run, seconds=40.0)
    assert CounterTestBudget().limits(slower)["t.py::quick"] == 3.25


def test_a_text_to_be_looked_for_gets_no_shorter() -> None:
    """`2` is part of everything that holds `func2`."""
    text = b"def test_x():\n    assert f() == '2'\n    assert 'func2' in g()\n"
    file = read_test_file("test_x.py", text)
    assert file is not None
    drawn = [draw(units_of([file], (TEST,))[0], Random(seed), (TEST,), {})[0] for seed in range(40)]
    members = [each for each in drawn if "func2" in each.site.shown and each.site.leaf is not None]
    assert members
    assert all(len(each.edits[0].text) >= len(b"'func2'") for each in members)
