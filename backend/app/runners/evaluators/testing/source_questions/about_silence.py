"""Asks about tests that pass although they compare nothing, or only what the code left of their inputs."""

from dataclasses import replace

from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.listed import listed
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_UNREACHED = (
    "Each assertion was made to fail as soon as it is reached, and the test still passes: the code gives it "
    "nothing to assert, or hides the failure. The base's code does not."
)
_SWAYED = (
    "The code changes an input, and the test computes what it expects from the changed input. It fails if "
    "that is computed first. The base's code does not do so."
)


def asked_about_silence(judged: JudgedRun, protected: ProtectedPolicy) -> JudgedRun:
    """Object to tests that say nothing about the code, and ask about them."""
    counter = judged.counter
    if counter is None or not counter.decides or protected is ProtectedPolicy.NOTE:
        return judged
    questions: list[Question] = []
    if counter.unreached:
        questions.append(_about("No assertion of {} is reached: may that be?", counter.unreached, _UNREACHED))
    if counter.swayed:
        text = "The code changes from what {} computes its expectation: may that be?"
        questions.append(_about(text, counter.swayed, _SWAYED))
    if not questions:
        return judged
    asked = questions if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in questions)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def _about(text: str, tests: tuple[str, ...], why: str) -> Question:
    names = "\n".join(tests)
    return Question.about("tests", QuestionKind.DOUBTFUL, text.format(listed(tests)), why=why, after=names)
