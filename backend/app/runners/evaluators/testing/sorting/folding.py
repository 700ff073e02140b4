"""Folds questions about tests that were red before the run, so that a person decides on few. Pure."""

from collections.abc import Sequence

from app.schemas.questions import MAX_QUESTIONS, Question, QuestionKind

_NAMED = 3
_FOLDED = 3
"""Fewer tests with the same message are asked about one by one, so that each can be accepted alone."""
_WHY_CHARS = 1000


def as_few(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return one question for tests that fail with the same message; one for all if those are too many.

    Args:
        questions: each about one red test.
    """
    by_cause: dict[tuple[str, str], list[Question]] = {}
    for each in questions:
        way = each.text.removeprefix(f"`{each.id}`") if each.before else each.id
        by_cause.setdefault((each.before, way), []).append(each)
    found = [each for group in by_cause.values() for each in _as_one(group)]
    if len(found) <= MAX_QUESTIONS:
        return tuple(found)
    names = ", ".join(f"`{each.id}`" for each in questions[:_NAMED])
    text = f"{len(questions)} tests already failed at the base, such as {names}: may they stay like that?"
    return (_covering(text, questions),)


def _as_one(alike: Sequence[Question]) -> Sequence[Question]:
    if len(alike) < _FOLDED:
        return alike
    names = ", ".join(f"`{each.id}`" for each in alike[:_NAMED])
    text = f"{len(alike)} tests already failed at the base in one way, such as {names}"
    way = "and still do" if "in the same way" in alike[0].text else "and now fail in another way"
    return [_covering(f"{text}, {way}: may they stay like that?", alike)]


def _covering(text: str, questions: Sequence[Question]) -> Question:
    """Return a question that stands for others. Its key covers theirs."""
    why = "; ".join(dict.fromkeys(each.why for each in questions))[:_WHY_CHARS]
    keys = "\n".join(sorted(each.key for each in questions))
    return Question.about("tests", QuestionKind.RED_AT_BASE, text, why=why, before=keys, after=keys)
