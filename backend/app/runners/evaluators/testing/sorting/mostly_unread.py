"""Asks about a result if most test files cannot be loaded, at the base, too. Pure."""

from collections.abc import Mapping

from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.sorting.goal import Goal
from app.schemas.questions import BaseFailures, Question, QuestionKind


def most_unread(known: Mapping[str, str], report: RunReport, goal: Goal) -> dict[str, str]:
    """Return what cannot be loaded if that is more files than have a test that passes, else nothing.

    Each of these files alone is only noted, because no change of the code helps. But if most are missing,
    what passes is little evidence, as when the compiled part that every other test imports is not built.

    Args:
        known: by id, why a failure of the base's tests does not count.
        report: the run of the base's tests on the candidate's code.
        goal: which failures count.
    """
    if goal.policy is not BaseFailures.GOAL or goal.tests:
        return {}
    errors = [each.id for each in report.errors]
    unread = {each: known[each] for each in errors if each in known and not goal.knows(each)}
    return unread if len(_files(unread)) > len(_passing(report)) else {}


def question_about(unread: Mapping[str, str], report: RunReport) -> Question:
    """Return the question whether a result may stand without tests that cannot be loaded.

    Args:
        unread: see `most_unread`.
        report: the run of the base's tests on the candidate's code.
    """
    files, ran = sorted(_files(unread)), len(_passing(report))
    text = (
        f"Only {ran} of {ran + len(files)} test files can be loaded, at the base, too; "
        f"`{files[0]}` is one that cannot: may the result stand without the others?"
    )
    why, key = "; ".join(dict.fromkeys(unread.values())), "\n".join(files)
    question = Question.about("tests", QuestionKind.RED_AT_BASE, text, why=why, before=key, after=key)
    return question.about_tests(sorted(unread))


def _files(unread: Mapping[str, str]) -> set[str]:
    return set(map(file_of, unread))


def _passing(report: RunReport) -> set[str]:
    return {file_of(each.id) for each in report.tests.values() if each.ok}
