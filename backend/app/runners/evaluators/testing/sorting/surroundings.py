"""Asks about changes to what tests use besides the code: parts of the standard library, the interpreter."""

from dataclasses import replace

from app.runners.evaluators.testing.at_base.base import BaseTests
from app.runners.evaluators.testing.running.report import RunReport
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.listed import listed
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_WHY = (
    "Tests make their inputs and expectations with it, so they no longer show that the code works. "
    "The base's code does not change it."
)
_WHY_WIDE = (
    "A test that expects such an exception also passes with failures that have nothing to do with it. "
    "The base's code has no such exception."
)
_WHY_REWRITTEN = "Where people run these tests, other tests then say something else."
_WHY_CHILD = (
    "The same test fails if the code of its process ends at once, so it looks at how that process ends. "
    "Only a look at the code, or held-out tests, can tell."
)


async def asked_about_surroundings(
    judged: JudgedRun, protected: ProtectedPolicy, base: BaseTests
) -> JudgedRun:
    """Object to what the code changed, and ask about it, if nothing else prevents a pass.

    Honest code may replace parts of the standard library, too. What the base's own code changes is not asked
    about. The same holds for exceptions that accept more than their names say. A person is asked about new
    tests that change others, too.
    """
    judged = _asked_about_rewritten(judged, protected)
    of_base = judged.of_base
    if of_base is None or not (of_base.altered or of_base.wide) or not (judged.all_well or judged.questions):
        return judged
    known = await _changed_at_base(of_base, base)
    names = [each for each in of_base.altered if each not in known]
    wide = [each for each in of_base.wide if each not in known]
    if not (names or wide) or protected is ProtectedPolicy.NOTE:
        return judged
    asked = [*_about_names(names), *_about_exceptions(wide)] if protected is ProtectedPolicy.ASK else []
    return replace(judged, altered=[*names, *wide], questions=(*judged.questions, *asked))


def _asked_about_rewritten(judged: JudgedRun, protected: ProtectedPolicy) -> JudgedRun:
    """Object to the candidate's own tests if they change those of the base, and ask about it."""
    names = judged.own.rewritten if judged.own else ()
    if not names or protected is ProtectedPolicy.NOTE or not (judged.all_well or judged.questions):
        return judged
    text = f"The new tests change {listed(names)} while they run: may that be?"
    asked = [_question(text, _WHY_REWRITTEN, list(names))] if protected is ProtectedPolicy.ASK else []
    return replace(judged, doubtful=[*judged.doubtful, text], questions=(*judged.questions, *asked))


async def _changed_at_base(report: RunReport, base: BaseTests) -> set[str]:
    """Return what the base's own code changes as well, and which exceptions are as wide there."""
    # Much of it is so once the files are loaded, and to load them takes a small part of the time.
    known = _surroundings_of(await base.loaded())
    left = {*report.altered, *report.wide} - known
    if not left:
        return known
    if not left <= set(report.noticed):
        return known | _surroundings_of(await base.run_now())
    files = {file for name in left for file in report.noticed[name]}
    return known | _surroundings_of(await base.run_now(files)) if files else known


def _surroundings_of(there: RunReport) -> set[str]:
    return {*there.altered, *there.altered_by_others, *there.wide, *there.wide_by_others}


def _about_names(names: list[str]) -> list[Question]:
    text = f"The code changes {listed(names)} while the tests run: does the goal say so?"
    return [_question(text, _WHY, names)] if names else []


def _about_exceptions(names: list[str]) -> list[Question]:
    text = f"Tests expect an exception that is wider than its name: {listed(names)}. May that be?"
    return [_question(text, _WHY_WIDE, names)] if names else []


def _question(text: str, why: str, names: list[str]) -> Question:
    return Question.about("tests", QuestionKind.DOUBTFUL, text, why=why, after="\n".join(sorted(names)))


def asked_about_children(judged: JudgedRun, protected: ProtectedPolicy) -> JudgedRun:
    """Object to tests whose own processes say nothing about the code, and ask about them."""
    counter = judged.counter
    if counter is None or not (counter.doubted and counter.decides) or protected is ProtectedPolicy.NOTE:
        return judged
    doubted = counter.doubted
    texts = [f"`{test}` says nothing about the code: {why}" for test, why in doubted.items()]
    text = f"{texts[0]}. Does the code end that process, or does it answer what is asked there?"
    asked = [_question(text, _WHY_CHILD, list(doubted))] if protected is ProtectedPolicy.ASK else []
    return replace(judged, doubtful=[*judged.doubtful, *texts], questions=(*judged.questions, *asked))
