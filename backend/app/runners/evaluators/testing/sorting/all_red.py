"""Asks about a change where no test of the base passes, with or without it. Pure."""

from collections.abc import Mapping

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing.layout.touched import Touched
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.dependencies import lacking, missing_module
from app.runners.evaluators.testing.running.failure_words import fails_alike
from app.runners.evaluators.testing.running.report import CollectProblem, RanTest, RunReport
from app.runners.evaluators.testing.sorting.base_failures import is_assertion, is_elsewhere, may_stay
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.second_look import SecondLook
from app.schemas.questions import BaseFailures, Question, QuestionKind

_WHY_CHARS = 1000


def about_all_red(
    report: RunReport,
    second: SecondLook,
    unreadable: Mapping[str, str],
    goal: Goal,
    code: BaseCode,
    touched: Touched | None = None,
) -> Question | None:
    """Return the question whether a change may stand although no test of the base passes.

    Return None if a test passes, fails otherwise than at the base, may wait for what the run should write, or
    shows that code is wrong which the change touches.

    Args:
        report: the run of the base's tests on the candidate's code.
        second: what is known of failing tests at the base.
        unreadable: the message by file or class for those that the base cannot load.
        goal: which failures count.
        code: the base's code.
        touched: what the candidate changed; None if unknown.
    """
    if goal.policy is not BaseFailures.GOAL or goal.tests:
        return None
    before = {**second.red, **unreadable}
    bad = [*report.failures, *report.errors]
    if not bad or any(each.ok for each in report.tests.values()):
        return None
    for each in bad:
        there = before.get(each.id)
        if there is None or goal.names(each.id) or not fails_alike(each.message, there):
            return None
        if not may_stay(each.id, there, goal, code):
            return None
        is_of_the_machine = each.id in second.without_network or _is_of_the_machine(there, code)
        if not (is_of_the_machine or _is_aside(each, second, goal, touched)):
            return None
    shown = f"such as `{bad[0].id}`"
    text = f"No test of the base passes here, with or without the change, {shown}: may the change stand?"
    messages = dict.fromkeys(" ".join(each.message.split()) for each in bad)
    key = "\n".join(sorted([*(each.id for each in bad), *map(issue_key, messages)]))
    why = "; ".join(messages)[:_WHY_CHARS]
    return Question.about("tests", QuestionKind.RED_AT_BASE, text, why=why, before=key, after=key)


def _is_aside(
    test: RanTest | CollectProblem, second: SecondLook, goal: Goal, touched: Touched | None
) -> bool:
    """Return True if the project's code raises an exception, and the change touches nothing on the way to it.

    A wrong assertion says that a value is wrong, and the code that computes it need not be in the traceback.
    """
    if touched is None or isinstance(test, CollectProblem) or is_assertion(test.message):
        return False
    return not touched.plays_a_part(test.id, (*test.files, *second.red_files.get(test.id, ())), goal.words)


def _is_of_the_machine(message: str, code: BaseCode) -> bool:
    """Return True if a failure arises outside the project, for want of a server, a module or a program."""
    return (
        is_elsewhere(message)
        or missing_module(message) is not None
        or lacking(message, code.tree) is not None
    )
