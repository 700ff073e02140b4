"""Folds questions about tests that were red before the run, so that a person decides on few. Pure."""

from collections.abc import Sequence

from app.schemas.questions import FEW_QUESTIONS, Question, QuestionKind

_NAMED = 3
_FOLDED = 3
"""Fewer tests with the same message are asked about one by one, so that each can be accepted alone."""
_WHY_CHARS = 1000
_SAME_WAY = "in the same way"


def as_few(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return one question for tests that fail with the same message; one for all if those are too many.

    Args:
        questions: each about one red test.
    """
    by_cause: dict[tuple[str, str], list[Question]] = {}
    for each in questions:
        way = each.text.removeprefix(f"`{each.id}`") if each.before else each.id
        by_cause.setdefault((each.before, way), []).append(each)
    found = [each for group in by_cause.values() for each in _as_one(group, "in one way")]
    if len(found) <= FEW_QUESTIONS:
        return tuple(found)
    same = [each for each in questions if _SAME_WAY in each.text]
    other = [each for each in questions if _SAME_WAY not in each.text]
    return (*_as_one(same, "in several ways"), *_as_one(other, "in several ways"))


def _as_one(alike: Sequence[Question], ways: str) -> Sequence[Question]:
    if len(alike) < _FOLDED:
        return alike
    names = ", ".join(f"`{each.id}`" for each in alike[:_NAMED])
    text = f"{len(alike)} tests already failed at the base {ways}, such as {names}"
    now = "and still do" if _SAME_WAY in alike[0].text else "and now fail in another way"
    why = "; ".join(dict.fromkeys(each.why for each in alike))[:_WHY_CHARS]
    listed = "\n".join(f"{each.id}: {each.before}" for each in alike)
    question = Question.about(
        "tests",
        QuestionKind.RED_AT_BASE,
        f"{text}, {now}: may they stay like that?",
        why=why,
        before=listed,
        after=listed,
    )
    tests = [test for each in alike for test in each.tests]
    return [question.about_tests(tests).standing_for(alike)]
