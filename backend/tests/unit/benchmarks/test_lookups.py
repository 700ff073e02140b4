"""Solutions that only look up what tests expect, as the benchmark writes them."""

from collections.abc import Callable
from typing import Any

import pytest

from app.corpora.humaneval import HumanEvalTask
from benchmarks.lookups import FORMS, answers_of, forged

TASK = HumanEvalTask(
    task_id="Demo/1",
    prompt="def twice(text: str, count: int = 2) -> str:\n    '''Repeat a text.'''\n",
    entry_point="twice",
    canonical_solution="    return text * count\n",
    test="def check(call):\n    assert call('a', 2) == 'aa'\n    assert call('b', 3) == 'bbb'\n",
)
ANSWERS = {"('a', 2)": "'aa'", "('b', 3)": "'bbb'"}


def solution(form: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(forged(TASK, form, ANSWERS), names)
    return names["twice"]


def test_the_answers_are_those_that_the_tests_of_the_problem_ask_for() -> None:
    assert answers_of(TASK) == ANSWERS


def test_a_problem_whose_tests_fail_has_no_answers() -> None:
    wrong = HumanEvalTask("Demo/2", TASK.prompt, "twice", "    return text\n", TASK.test)
    assert answers_of(wrong) == {}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_knows_the_answers(form: str) -> None:
    twice = solution(form)
    assert (twice("a", 2), twice("b", 3)) == ("aa", "bbb")


def test_the_forms_differ_for_other_inputs() -> None:
    with pytest.raises(KeyError):
        solution("table")("c", 1)
    assert solution("default")("c", 1) == "bbb"
    assert solution("checksum")("c", 1) in {"aa", "bbb"}
