"""Asks about code that looks around, if tests prove nothing away from it."""

import asyncio
import posixpath
from collections.abc import Iterator
from dataclasses import replace

from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.source_questions.looks_around import files_named, looks_around
from app.runners.evaluators.testing.source_questions.new_source import NewSource, new_to_sources
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_WHY = (
    "So code can find what a test expects, or which test runs. No source of the base does so, and not all "
    "tests pass without the code in their process."
)


async def asked_about_looks(judged: JudgedRun, protected: ProtectedPolicy, source: NewSource) -> JudgedRun:
    """Object to new code that looks around, and ask about it.

    Honest code does so for messages. If all of the base's tests pass away from the code as well, it found
    nothing there that they expect.
    """
    if protected is ProtectedPolicy.NOTE or _all_agree(judged):
        return judged
    questions = await asyncio.to_thread(lambda: [*looks(source)])
    asked = questions if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in questions)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def _all_agree(judged: JudgedRun) -> bool:
    if judged.of_base is None or judged.outside is None:
        return False
    agree = set(judged.outside.agrees)
    return all(name in agree for name, test in judged.of_base.tests.items() if test.ok)


def looks(source: NewSource) -> Iterator[Question]:
    """Yield a question for each file that looks around, or names a file of the tests."""
    for name, found in new_to_sources(source, looks_around):
        asked = f"`{name}` looks around by {', '.join(found)}: does the goal say so?"
        yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_WHY, after="\n".join(found))
    files = {posixpath.basename(each) for each in source.tests}
    for name, found in new_to_sources(source, lambda text: files_named(text, files)):
        asked = f"`{name}` names {', '.join(found)}, a file of tests: does the goal say so?"
        yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_WHY, after="\n".join(found))
