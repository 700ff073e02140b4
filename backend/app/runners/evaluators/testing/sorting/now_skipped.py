"""Asks about tests that fail at the base and are skipped with the change, as they get further now."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from app.runners.evaluators.testing.layout.inventory import function_of
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.schemas.questions import Question, QuestionKind

_WHY = "A test that gets further may find that it cannot run here. Code under test can skip it as well."


async def with_skips(
    judged: JudgedRun, red: Mapping[str, str], rest: Callable[[JudgedRun], Awaitable[JudgedRun]]
) -> JudgedRun:
    """Judge the rest without the tests that are skipped now, and ask about these if it holds.

    Args:
        judged: the runs.
        red: those of its newly skipped tests that fail at the base, with their messages there.
        rest: accounts for everything else.
    """
    if judged.of_base is None or not 0 < len(red) < sum(each.ok for each in judged.of_base.tests.values()):
        # Where most are skipped, the rest would be no evidence.
        return await rest(judged)
    idle = [each for each in judged.idle if each not in red]
    reasons = {each: judged.of_base.tests[each].message for each in red}
    found = await rest(replace(judged, idle=idle, doubted={**judged.doubted, **reasons}))
    if not (found.questions or found.all_well):
        return replace(found, idle=judged.idle)
    return replace(found, questions=(*found.questions, *_questions(red, reasons)))


def _questions(red: Mapping[str, str], reasons: Mapping[str, str]) -> Sequence[Question]:
    functions = {function_of(each): each for each in red}
    return [
        Question.about(
            function,
            QuestionKind.DOUBTFUL,
            f"`{function}` failed at the base and is skipped now: may that be?",
            why=_WHY,
            before=red[test],
            after=reasons[test],
        )
        for function, test in functions.items()
    ]
