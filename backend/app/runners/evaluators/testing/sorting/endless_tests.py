"""Decides which tests count that never end, end the process or stop the run, with both codes. Pure."""

from collections.abc import Mapping

from app.runners.evaluators.testing.at_base.endless import is_left_out_with_another, stops_all
from app.runners.evaluators.testing.sorting.base_failures import SortedFailures
from app.runners.evaluators.testing.sorting.goal import Goal
from app.schemas.questions import BaseFailures, Question, QuestionKind


def sort_endless(endless: Mapping[str, str], goal: Goal) -> SortedFailures:
    """Sort tests that, with the candidate's code and at the base, never end or end the process.

    Those in neither group of the result count against the candidate. One question stands for a test that ends
    the process or stops the run and for the others that did not run.

    Args:
        endless: by id, what is known of the test.
        goal: which failures count.
    """
    known: dict[str, str] = {}
    questions: list[Question] = []
    for name, why in endless.items():
        if goal.policy is BaseFailures.MUST_PASS:
            continue
        if goal.policy is BaseFailures.IGNORE:
            known[name] = f"it {why}"
        elif goal.names(name):
            continue
        elif goal.tests:
            known[name] = f"it {why}, and is not among the tests of the goal"
        elif is_left_out_with_another(why) or (goal.knows(name) and not stops_all(why)):
            known[name] = f"it {why}"
        else:
            text = f"`{name}` {why}: may it stay so?"
            question = Question.about(name, QuestionKind.RED_AT_BASE, text, why="the goal does not name it")
            questions.append(question if stops_all(why) else question.about_tests([name]))
    return SortedFailures(known, tuple(questions))
