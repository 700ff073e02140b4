"""Asks about new code that makes different things equal."""

import ast
import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from app.runners.evaluators.testing.at_base.base_away import BaseAway
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.source_questions.class_names import classes_of, may_be_class_of
from app.runners.evaluators.testing.source_questions.known_answers import lines_of
from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed
from app.runners.evaluators.testing.source_questions.own_equality import (
    classes_with_values,
    own_equality,
    sets_equality,
)
from app.runners.evaluators.testing.source_questions.weaker_equality import weaker_equality
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_EQUAL = "Tests compare such objects, so they no longer notice a difference in that. The base compares it."
_OTHER = "A test that compares such an object passes if the object says so, whatever is in it."

_LEAST_BUDGET = 10.0
_PATIENCE = 2.0
"""Seconds of the control, and how many times as long as beside the code it may take besides."""

_doubtful = partial(Question.about, kind=QuestionKind.DOUBTFUL)


def about_equality(source: NewSource) -> Iterator[Question]:
    """Yield the questions about what new source code calls equal."""
    before = {name: module for name, module in parsed(source.known) if name in source.texts}
    for name, module in parsed(source.texts):
        if name in before:
            yield from _about_weaker(source, name, module, before[name])
    yield from _about_derived(source, before)
    yield from _about_set(source)


async def asked_about_equal_kinds(
    judged: JudgedRun, protected: ProtectedPolicy, source: NewSource, base: BaseAway
) -> JudgedRun:
    """Object to new classes whose own equality made an object equal to one of another class, and ask.

    A class is known if the base's sources define it, or if one of its name does the same in the base.
    """
    kinds = judged.outside.equal_kinds if judged.outside else ()
    run, ran = source.layout.base_run, judged.of_base
    if not kinds or run is None or ran is None or protected is ProtectedPolicy.NOTE:
        return judged
    new = await asyncio.to_thread(_without_classes_of_base, kinds, source)
    if new:
        # A class may have been seen in a test that failed later.
        ids = list(ran.tests)
        with suppress(OSError):  # without the control, a person is asked
            honest = await base.equal_kinds(ids, run.trusted, _LEAST_BUDGET + _PATIENCE * ran.seconds)
            new = [each for each in new if each not in honest]
    text = "The class `{}` itself says which objects of other classes it equals: may that be?"
    questions = [_doubtful(each, text=text.format(each), why=_OTHER) for each in new]
    asked = questions if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in questions)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def _without_classes_of_base(kinds: Iterable[str], source: NewSource) -> list[str]:
    known = [(name, kind) for name, module in parsed(source.known) for kind, _ in classes_of(module)]
    return [each for each in kinds if not any(may_be_class_of(each, *one) for one in known)]


def _about_weaker(source: NewSource, name: str, module: ast.Module, base: ast.Module) -> Iterator[Question]:
    for kind, left_out in weaker_equality(base, module).items():
        asked = f"`{kind}` in `{name}` no longer compares {left_out}: does the goal say so?"
        old, new = (_class_text(text, kind) for text in (source.known[name], source.texts[name]))
        yield _doubtful(f"{name}::{kind}", text=asked, why=_EQUAL, before=old, after=new)


def _about_derived(source: NewSource, before: Mapping[str, ast.Module]) -> Iterator[Question]:
    texts = {name: text for name, text in source.texts.items() if "__eq__" in text or "__ne__" in text}
    if not texts:
        return
    known = frozenset(each for _, module in parsed(source.known) for each in classes_with_values(module))
    for name, module in parsed(texts):
        for kind, replaced in own_equality(module, before.get(name), known):
            change = f"`{name}` derives `{kind.name}` from `{replaced}` with another equality"
            after = ast.get_source_segment(texts[name], kind) or ""
            yield _doubtful(
                f"{name}::{kind.name}", text=f"{change}: does the goal say so?", why=_OTHER, after=after
            )


def _about_set(source: NewSource) -> Iterator[Question]:
    found = {name: lines for name, text in source.texts.items() if (lines := sets_equality(text))}
    if not found or any(sets_equality(text) for text in source.known.values()):
        return
    for name, lines in found.items():
        asked = f"`{name}` gives a class another equality on line {lines[0]}: does the goal say so?"
        yield _doubtful(
            name, text=asked, why=_OTHER, after=lines_of(source.texts[name], dict.fromkeys(lines))
        )


def _class_text(text: str, name: str) -> str:
    for _, module in parsed({"": text}):
        for each in ast.walk(module):
            if isinstance(each, ast.ClassDef) and each.name == name:
                return ast.get_source_segment(text, each) or ""
    return ""
