"""Asks about new code that treats the inputs of tests in a special way."""

import re
from collections.abc import Iterator
from functools import cached_property

from app.runners.evaluators.testing.source_questions.known_answers import lines_of
from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed
from app.runners.evaluators.testing.source_questions.tested_inputs import (
    SharedInputs,
    Value,
    asked_by_tests,
    compared_before_errors,
    listed_inputs,
    lists_of,
    literals_of,
    refused_by_tests,
    refused_inputs,
)
from app.schemas.questions import TESTS_AND_CODE, Question, QuestionKind

_WORD = re.compile(r"\b[A-Za-z]{2,}\b")
_LISTED = "lists {} inputs of `{}` and little else: does it only know the tests?"
_REFUSED = "raises an error for exactly the input of `{}`: does it only know the tests?"
_WHY = (
    "The base's code has none of them. Only other inputs, such as those of held-out tests, show whether the "
    "code works."
)


def about_inputs(source: NewSource) -> Iterator[Question]:
    """Yield a question for each new file that treats the inputs of a test in a special way."""
    lists = {name: found for name, module in parsed(source.texts) if (found := lists_of(module))}
    compared = {
        name: found for name, module in parsed(source.texts) if (found := compared_before_errors(module))
    }
    if not lists and not compared:
        return
    base = _LiteralsAtBase(source)
    for test, module in parsed(source.tests):
        asked, refused = asked_by_tests(module), refused_by_tests(module)
        for name, entries in lists.items():
            if found := listed_inputs(asked, entries, base.__contains__):
                yield _about(source, name, test, _LISTED.format(len(found.lines), test), found)
        for name, values in compared.items():
            if found := refused_inputs(refused, values, base.__contains__):
                yield _about(source, name, test, _REFUSED.format(test), found)


class _LiteralsAtBase:
    """The literals and words of the base's sources; they are read only if new code has inputs of a test.

    Docstrings and names say which words a function is to know.
    """

    def __init__(self, source: NewSource) -> None:
        self._source = source

    def __contains__(self, value: Value) -> bool:
        return value in self._all or value[1] in self._words

    @cached_property
    def _all(self) -> frozenset[Value]:
        return frozenset(each for _, module in parsed(self._source.known) for each in literals_of(module))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(each for text in self._source.known.values() for each in _WORD.findall(text))


def _about(source: NewSource, name: str, test: str, asked: str, shared: SharedInputs) -> Question:
    one = dict.fromkeys(line for line, _ in sorted(shared.lines))
    other = dict.fromkeys(line for _, line in sorted(shared.lines))
    return Question.about(
        name,
        QuestionKind.DOUBTFUL,
        f"`{name}` {asked}",
        why=_WHY,
        before=lines_of(source.tests[test], one),
        after=lines_of(source.texts[name], other),
        headings=TESTS_AND_CODE,
    )
