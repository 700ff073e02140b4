"""Asks about changes to what tests use besides the code: parts of the standard library, the interpreter."""

from dataclasses import replace

from app.runners.evaluators.testing.base import BaseTests
from app.runners.evaluators.testing.judged import JudgedRun
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_LISTED = 5
_WHY = (
    "Tests make their inputs and expectations with it, so they no longer show that the code works. "
    "The base's code does not change it."
)


async def asked_about_surroundings(
    judged: JudgedRun, protected: ProtectedPolicy, base: BaseTests
) -> JudgedRun:
    """Object to what the code changed, and ask about it, if nothing else prevents a pass.

    Honest code may replace parts of the standard library, too. What the base's own code changes is not asked
    about.
    """
    of_base = judged.of_base
    if of_base is None or not of_base.altered or not (judged.all_well or judged.questions):
        return judged
    known = await base.altered_too(of_base)
    names = [each for each in of_base.altered if each not in known]
    if not names or protected is ProtectedPolicy.NOTE:
        return judged
    asked = [_about(names)] if protected is ProtectedPolicy.ASK else []
    return replace(judged, altered=names, questions=(*judged.questions, *asked))


def _about(names: list[str]) -> Question:
    shown = ", ".join(f"`{each}`" for each in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    text = f"The code changes {shown}{more} while the tests run: does the goal say so?"
    return Question.about("tests", QuestionKind.DOUBTFUL, text, why=_WHY, after="\n".join(sorted(names)))
