"""Asks about code that gives tests no answer away from them, where the base's code does."""

from dataclasses import replace

from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.listed import listed
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_HEADINGS = ("Tests", "Away from them")
_WHY = (
    "Away from the tests, the code runs in another process, which cannot see what tests expect. These tests "
    "pass beside the code and get no answer there. The base's code gives them one. Honest code may do so if "
    "it needs a file or a program that only the tests' process has."
)


def asked_about_absence(judged: JudgedRun, protected: ProtectedPolicy) -> JudgedRun:
    """Object to tests that the code only answers beside them, and ask about them."""
    outside = judged.outside
    if outside is None or not outside.absent or protected is ProtectedPolicy.NOTE:
        return judged
    names, reasons = list(outside.absent), list(outside.absent.values())
    text = f"The code gives {listed(names)} no answer away from the tests: may that be?"
    tests = "\n".join(names)
    question = Question.about(
        "tests",
        QuestionKind.DOUBTFUL,
        text,
        why=_WHY,
        before=tests,
        after="\n".join(dict.fromkeys(reasons)),
        headings=_HEADINGS,
    )
    # The words of an error may vary. An answer holds for the same tests.
    same = Question.about("tests", QuestionKind.DOUBTFUL, text, before=tests)
    asked = (question.model_copy(update={"key": same.key}),) if protected is ProtectedPolicy.ASK else ()
    return replace(judged, doubtful=[*judged.doubtful, text], questions=(*judged.questions, *asked))
