"""Asks about a change where no test of the base passes, with or without it. Pure."""

from collections.abc import Mapping

from app.runners.evaluators.issues import issue_key
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.dependencies import lacking, missing_module
from app.runners.evaluators.testing.running.failure_words import fails_alike
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.sorting.again import SecondLook
from app.runners.evaluators.testing.sorting.base_failures import is_elsewhere, may_stay
from app.runners.evaluators.testing.sorting.goal import Goal
from app.schemas.questions import BaseFailures, Question, QuestionKind

_WHY_CHARS = 1000


def about_all_red(
    report: RunReport, second: SecondLook, unreadable: Mapping[str, str], goal: Goal, code: BaseCode
) -> Question | None:
    """Return the question whether a change may stand although no test of the base passes.

    Return None if a test passes, fails otherwise than at the base or in the project's own code, or may wait
    for what the run should write.

    Args:
        report: the run of the base's tests on the candidate's code.
        second: what is known of failing tests at the base.
        unreadable: the message by file or class for those that the base cannot load.
        goal: which failures count.
        code: the base's code.
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
        if not (may_stay(each.id, there, goal, code) and _is_of_the_machine(there, code)):
            return None
    shown = f"such as `{bad[0].id}`"
    text = f"No test of the base passes here, with or without the change, {shown}: may the change stand?"
    messages = dict.fromkeys(" ".join(each.message.split()) for each in bad)
    key = "\n".join(sorted([*(each.id for each in bad), *map(issue_key, messages)]))
    why = "; ".join(messages)[:_WHY_CHARS]
    return Question.about("tests", QuestionKind.RED_AT_BASE, text, why=why, before=key, after=key)


def _is_of_the_machine(message: str, code: BaseCode) -> bool:
    """Return True if a failure arises outside the project, for want of a server, a module or a program.

    A suite that fails in the project's own code is work to do.
    """
    return (
        is_elsewhere(message)
        or missing_module(message) is not None
        or lacking(message, code.tree) is not None
    )
