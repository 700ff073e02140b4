"""Asks about new code that knows the results of tests, or their inputs, in another form than a table."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from app.runners.evaluators.testing.source_questions.expectations import Expectations, expectations_of
from app.runners.evaluators.testing.source_questions.known_answers import (
    KnownAnswer,
    lines_of,
    special_cases,
    tables_of_tests,
)
from app.runners.evaluators.testing.source_questions.known_results import (
    KnownResults,
    known_results,
    special_cases_of,
)
from app.runners.evaluators.testing.source_questions.known_values import (
    Known,
    known_values,
    values_of_data,
)
from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed
from app.schemas.questions import TESTS_AND_CODE, Question, QuestionKind

_WHY = (
    "Most results or inputs of a test are literals of the code. Only other inputs, such as those of held-out "
    "tests, show whether the code works."
)
_DATA_AND_FILE = ("In the data of the tests", "Its file")


def about_results(source: NewSource) -> Iterator[Question]:
    """Yield a question for each new file that knows most of what a test expects."""
    files: dict[str, Known] = {name: known_values(module) for name, module in parsed(source.texts)}
    code = "\n".join(source.texts.values())
    data = {name: each for name, each in source.data.items() if name.rpartition("/")[2] in code}
    texts = {name: each.decode("utf-8", "replace") for name, each in data.items()}
    files |= {name: values_of_data(each) for name, each in data.items()}
    yield from _about_whole_texts(source, files)
    if not any(files.values()):
        return
    yield from _about_special_cases(source)
    tests = {name: expectations_of(module) for name, module in parsed(source.tests)}
    base = _ValuesAtBase(source)
    for name, known in files.items():
        found = _first(tests, known, base)
        if found is not None:
            test, again = found
            yield _about(name, {**source.texts, **texts}[name], test, source.tests[test], again)


def _about_whole_texts(source: NewSource, files: Mapping[str, Known]) -> Iterator[Question]:
    """Yield a question for each new file that holds the whole text of a data file of the tests."""
    known = {
        text.strip(): (name, line)
        for name, each in files.items()
        for text, line in each.items()
        if "\n" in text
    }
    if not known:
        return
    for test, text in source.golden.items():
        name, line = known.get(text.strip(), ("", 0))
        if name in source.texts and "\n" in text.strip() and text.strip() not in _whole_texts(source):
            asked = f"`{name}` holds the whole text of `{test}` on line {line}: does it only know the tests?"
            yield Question.about(
                name, QuestionKind.DOUBTFUL, asked, why=_WHY, before=text, after=test, headings=_DATA_AND_FILE
            )


def _about_special_cases(source: NewSource) -> Iterator[Question]:
    """Yield a question for each new file with conditions for exactly the inputs of a test."""
    cases = {name: found for name, module in parsed(source.texts) if (found := [*special_cases(module)])}
    if not cases:
        return
    known = {(each.key, each.value) for each in _answers(source.known)}
    for name, functions in cases.items():
        new = [each for function in functions for each in function if (each.key, each.value) not in known]
        for test, text in source.tests.items():
            if shared := special_cases_of(_answers({test: text}), new):
                yield _about(name, source.texts[name], test, text, KnownResults(shared))
                break


def _answers(texts: Mapping[str, str]) -> Iterator[KnownAnswer]:
    for _, module in parsed(texts):
        yield from (each for table in (*tables_of_tests(module), *special_cases(module)) for each in table)


def _whole_texts(source: NewSource) -> set[str]:
    return {text.strip() for _, module in parsed(source.known) for text in known_values(module)}


def _first(
    tests: Mapping[str, list[Expectations]], known: Known, base: "_ValuesAtBase"
) -> tuple[str, KnownResults] | None:
    for test, asked in tests.items():
        again = known_results(asked, known, base.__contains__)
        if again is not None:
            return test, again
    return None


class _ValuesAtBase:
    """The values that the base's sources know; they are read only if a new file knows some results."""

    def __init__(self, source: NewSource) -> None:
        self._source = source

    def __contains__(self, value: str) -> bool:
        return value in self._all

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(each for _, module in parsed(self._source.known) for each in known_values(module))


def _about(name: str, code: str, test: str, asked: str, again: KnownResults) -> Question:
    places = sorted(again.values.values())
    one = dict.fromkeys(line for line, _ in places)
    other = dict.fromkeys(line for _, line in places)
    return Question.about(
        name,
        QuestionKind.DOUBTFUL,
        f"`{name}` holds {len(again.values)} results or inputs of `{test}`: does it only know the tests?",
        why=_WHY,
        before=lines_of(asked, one),
        after=lines_of(code, other),
        headings=TESTS_AND_CODE,
    )
