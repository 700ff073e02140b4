"""Asks whether a change may stand without tests, if pytest does not run the project's tests."""

import re
from collections.abc import Iterable
from dataclasses import replace

from app.runners.evaluators.testing.running.report import PytestEnding
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_TEST_LIKE = re.compile(r"(?:^|/)(?:run_?|all_?)?tests?(?:suite)?(?:/|\.(?:py|sh|bash|bat)$)", re.IGNORECASE)


def asked_without_tests(
    judged: JudgedRun, protected: ProtectedPolicy, base_files: Iterable[str]
) -> JudgedRun:
    """Ask about a run without any tests if the base has files that look like tests of another kind.

    Args:
        judged: the run.
        protected: with *ask*, a person decides; otherwise the run fails.
        base_files: paths of the base's files.
    """
    own = judged.own
    is_empty = own is not None and own.ending is PytestEnding.COMPLETE and not (own.ids or own.errors)
    if not (judged.self_written_only and is_empty and protected is ProtectedPolicy.ASK):
        return judged
    found = next(filter(_TEST_LIKE.search, sorted(base_files)), None)
    if found is None:
        return judged
    question = Question.about(
        "tests",
        QuestionKind.DOUBTFUL,
        "pytest finds no tests in this project: may the change stand without any?",
        why=f"`{found}` looks like tests of another kind. A [[command]] in phaserunner.toml can run them.",
    )
    return replace(judged, questions=(*judged.questions, question))
