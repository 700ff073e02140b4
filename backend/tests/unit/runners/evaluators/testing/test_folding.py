"""How many red tests become few questions."""

from collections.abc import Sequence

from app.runners.evaluators.testing.running.report import Outcome, RanTest
from app.runners.evaluators.testing.sorting.base_failures import sort_failures
from app.runners.evaluators.testing.sorting.folding import as_few
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.schemas.questions import FEW_QUESTIONS, Question
from tests.unit.runners.evaluators.testing.red_support import NAME, NO_CODE, WRONG_VALUE


def asked_about(messages: Sequence[str]) -> Sequence[Question]:
    """Return what is asked about red tests with these messages."""
    red = {f"{NAME}[{at}]": each for at, each in enumerate(messages)}
    second = SecondLook(at_base=tuple(red), red=red)
    failures = [RanTest(name, Outcome.FAILED, 0.1, each) for name, each in red.items()]
    return sort_failures(failures, second, Goal(words="Drop Python 3.8"), NO_CODE).questions


def test_many_red_tests_are_one_question() -> None:
    asked = asked_about([f"{WRONG_VALUE}, {chr(97 + at) * 3}" for at in range(FEW_QUESTIONS + 1)])
    assert as_few(asked[1:]) == tuple(asked[1:])
    (question,) = as_few(asked)
    assert f"{FEW_QUESTIONS + 1} tests already failed at the base in several ways" in question.text
    assert f"{NAME}[0]: {asked[0].before}" in question.before
    (other,) = as_few([*asked, asked[0].model_copy(update={"key": "0" * 64})])
    assert other.key != question.key


def test_many_that_now_fail_in_another_way_are_a_question_beside_the_others() -> None:
    asked = asked_about([f"{WRONG_VALUE}, {chr(97 + at) * 3}" for at in range(FEW_QUESTIONS + 3)])
    other = [
        each.model_copy(update={"text": each.text.replace("the same way", "another way")})
        for each in asked[:3]
    ]
    first, second = as_few([*other, *asked[3:]])
    assert "and still do" in first.text
    assert "3 tests" in second.text
    assert "now fail in another way" in second.text


def test_red_tests_with_the_same_message_are_one_question() -> None:
    other = "tests/test_a.py:9: OSError: no socket"
    asked = asked_about([WRONG_VALUE, other, WRONG_VALUE, other, WRONG_VALUE])
    first, second, third = as_few(asked)
    assert first.text.startswith(f"3 tests already failed at the base in one way, such as `{NAME}[0]`")
    assert WRONG_VALUE in first.why
    assert [second, third] == [asked[1], asked[3]]
    assert as_few(asked)[0].key == first.key
    assert as_few([*asked, asked[0].model_copy(update={"key": "0" * 64})])[0].key != first.key
