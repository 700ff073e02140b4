"""Asks about a change if pytest does not get to its tests, with or without it. Pure."""

import re

from app.runners.evaluators.testing.running.failure_words import failure_words
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.tooling import excerpt
from app.schemas.questions import BaseFailures, ProtectedPolicy, Question, QuestionKind

_WHY_CHARS = 1000
_INTERNAL = re.compile(r"^INTERNALERROR> (?!Traceback)(\S.*)$", re.MULTILINE)
"""A line of an error in pytest itself. Others show code and places, which depend on how it was started."""


def about_unstarted(
    report: RunReport, at_base: RunReport | None, goal: Goal, protected: ProtectedPolicy
) -> Question | None:
    """Return the question whether a change may stand although pytest cannot run the base's tests.

    Return None if the base's own run ends otherwise or in other words, if tests belong to the goal, or if
    nothing is asked.

    Args:
        report: the run of the base's tests on the candidate's code.
        at_base: the base's own run; None if pytest can run there.
        goal: which failures count.
        protected: only with *ask*, a person decides.
    """
    if at_base is None or protected is not ProtectedPolicy.ASK:
        return None
    words = _words(report.text)
    if goal.policy is not BaseFailures.GOAL or goal.tests or words != _words(at_base.text):
        return None
    return Question.about(
        "tests",
        QuestionKind.RED_AT_BASE,
        "pytest cannot run the tests here, with or without the change: may the change stand?",
        why=excerpt(report.text, _WHY_CHARS),
        # An accepted question must not cover another reason.
        before=words,
        after=words,
    )


def _words(text: str) -> str:
    return failure_words("\n".join(_INTERNAL.findall(text)) or text)
