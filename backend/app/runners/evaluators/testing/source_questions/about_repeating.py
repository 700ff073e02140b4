"""Asks about functions that know the inputs of the tests only, whatever their source looks like."""

import asyncio
from dataclasses import replace

from app.runners.evaluators.testing.pytest_outside.repeating import Answers, RepeatingFunction
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.source_questions.changed_code import affected_among
from app.runners.evaluators.testing.source_questions.new_source import NewSource
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_LISTED = 12
_HEADINGS = ("The tests ask", "Other inputs")
_WHY = (
    "It was called with inputs that no test has. It raises errors, returns the same for all of them, or what "
    "tests expect for other inputs. Honest code may do so if there are no others, as for the names of days."
)


async def asked_about_repeating(
    judged: JudgedRun, protected: ProtectedPolicy, source: NewSource
) -> JudgedRun:
    """Object to functions that show nothing new for inputs that no test has, and ask about them.

    What the change cannot affect is not asked about: the base does the same.
    """
    found = judged.outside.repeating if judged.outside else ()
    if not found or protected is ProtectedPolicy.NOTE:
        return judged
    affected = await asyncio.to_thread(affected_among, source, [each.name for each in found])
    questions = [_about(each) for each in found if each.name in affected]
    asked = questions if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in questions)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def _about(function: RepeatingFunction) -> Question:
    count = len(function.others)
    text = f"`{function.name}` shows nothing new for {count} other inputs: does it only know the tests?"
    tested = _lines(function.tested)
    shown = Question.about(
        function.name,
        QuestionKind.DOUBTFUL,
        text,
        why=_WHY,
        before=tested,
        after=_lines(function.others),
        headings=_HEADINGS,
    )
    # The other inputs are drawn anew each time. An answer holds for as long as the tests ask the same.
    same = Question.about(function.name, QuestionKind.DOUBTFUL, text, before=tested)
    return shown.model_copy(update={"key": same.key})


def _lines(answers: Answers) -> str:
    return "\n".join(f"{asked} -> {result}" for asked, result in answers[:_LISTED])
