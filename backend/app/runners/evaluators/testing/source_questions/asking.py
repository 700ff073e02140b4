"""Asks about new source code that repeats the tests, hides code, or sets what tests depend on."""

import ast
import asyncio
import hashlib
from collections.abc import Awaitable, Iterator
from dataclasses import replace

from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.source_questions.about_behaviour import about_behaviour
from app.runners.evaluators.testing.source_questions.about_equality import about_equality
from app.runners.evaluators.testing.source_questions.about_hooks import about_hooks
from app.runners.evaluators.testing.source_questions.about_inputs import about_inputs
from app.runners.evaluators.testing.source_questions.about_packaging import about_packaging
from app.runners.evaluators.testing.source_questions.about_reach import about_reach
from app.runners.evaluators.testing.source_questions.about_results import about_results
from app.runners.evaluators.testing.source_questions.hidden_code import (
    PROGRAMS,
    hidden_in_files,
    hidden_in_texts,
    ways_to_run_code,
)
from app.runners.evaluators.testing.source_questions.inner_parts import inner_parts
from app.runners.evaluators.testing.source_questions.known_answers import (
    KnownAnswer,
    Repeated,
    Table,
    lines_of,
    repeated,
    tables_of_code,
    tables_of_json,
    tables_of_tests,
)
from app.runners.evaluators.testing.source_questions.known_values import tables_in_texts
from app.runners.evaluators.testing.source_questions.new_source import NewSource, new_to_sources, parsed
from app.runners.evaluators.testing.source_questions.shared_state import states_set, tools_imported
from app.schemas.questions import TESTS_AND_CODE, ProtectedPolicy, Question, QuestionKind
from app.workspaces.files.temporary import in_thread

_REPEATED = (
    "It holds what tests ask beside what they expect, and little else. Only other inputs, such as those of "
    "held-out tests, show whether the code works."
)
_HIDDEN = "No linter and no type checker reads it, and the base runs no such code."
_HIDDEN_PROGRAM = "A reviewer cannot read its code."
_STATE = "The tests compute their expectations with it, so they may expect whatever the code returns."
_INNER = "So code can find what a test expects, or change what it holds. No source of the base does so."
_TOOL = "With it the code can decide what is tested. No source of the base imports it."


SourceQuestions = Awaitable[list[Question]]
"""The questions about a candidate's source, as soon as it is read."""


async def read_source(
    source: NewSource, protected: ProtectedPolicy, started: asyncio.Event
) -> list[Question]:
    """Return the questions about a candidate's source, read while its tests run. It can take seconds.

    Args:
        source: what was changed.
        protected: with *note*, nothing is asked and nothing read.
        started: set once a run has started.
    """
    if protected is ProtectedPolicy.NOTE or source.layout.base_run is None:
        return []
    await started.wait()
    return await in_thread(source_questions, source)


async def asked_about_source(
    judged: JudgedRun, protected: ProtectedPolicy, questions: SourceQuestions
) -> JudgedRun:
    """Object to new source code that passing tests say nothing about, and ask about it.

    Nothing is asked if something else prevents a pass.
    """
    if judged.of_base is None or protected is ProtectedPolicy.NOTE:
        return judged
    if not (judged.all_well or judged.questions):
        return judged
    found = await questions
    if not found:
        return judged
    asked = found if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in found)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def source_questions(source: NewSource) -> list[Question]:
    """Return the questions about a candidate's source."""
    answers: dict[str, Question] = {}
    for each in (*_about_answers(source), *about_results(source), *about_inputs(source)):
        answers.setdefault(each.id, each)
    hidden = [*_about_hidden(source)]
    return [
        *answers.values(),
        *about_behaviour(source),
        *about_reach(source, asked=[each.id for each in hidden]),
        *about_hooks(source),
        *about_packaging(source),
        *about_equality(source),
        *hidden,
        *_about_programs(source),
        *_about_states(source),
        *_about_tools(source),
        *_about_inner_parts(source),
    ]


def _about_answers(source: NewSource) -> Iterator[Question]:
    tables = {name: [*_tables(module)] for name, module in parsed(source.texts)}
    texts = {name: data.decode("utf-8", "replace") for name, data in source.data.items()}
    tables |= {name: [*tables_of_json(text)] for name, text in texts.items() if name.endswith(".json")}
    tables = {name: found for name, found in tables.items() if any(_may_repeat(each) for each in found)}
    if not tables:
        return
    tests = {name: [*tables_of_tests(module)] for name, module in parsed(source.tests)}
    known = _pairs(table for _, module in parsed(source.known) for table in _tables(module))
    sources = {**source.texts, **texts}
    for name, found in tables.items():
        new = [tuple(each for each in table if (each.key, each.value) not in known) for table in found]
        for test, asked in tests.items():
            again = repeated(asked, new)
            if again is not None:
                yield _about_table(name, sources[name], test, source.tests[test], again)
                break


def _tables(module: ast.Module) -> Iterator[Table]:
    yield from tables_of_code(module)
    yield from tables_in_texts(module)


def _may_repeat(table: Table) -> bool:
    return sum(each.is_telling for each in table) > 1


def _pairs(tables: Iterator[Table]) -> set[tuple[tuple[str, ...], str]]:
    return {(each.key, each.value) for table in tables for each in table}


def _about_table(name: str, code: str, test: str, asked: str, again: Repeated) -> Question:
    return Question.about(
        name,
        QuestionKind.DOUBTFUL,
        f"`{name}` repeats {len(again.pairs)} inputs and results of `{test}`: does it only know the tests?",
        why=_REPEATED,
        before=_shown(asked, [one for one, _ in again.pairs]),
        after=_shown(code, [other for _, other in again.pairs]),
        headings=TESTS_AND_CODE,
    )


def _shown(text: str, pairs: list[KnownAnswer]) -> str:
    numbers = dict.fromkeys(each.line for each in pairs)
    return lines_of(text, numbers) or "\n".join(f"{' '.join(each.key)}: {each.value}" for each in pairs)


def _about_hidden(source: NewSource) -> Iterator[Question]:
    for name, _ in new_to_sources(source, ways_to_run_code):
        text = source.texts[name]
        files = hidden_in_files(text, source.data)
        places = [*(f"`{each}`" for each in files), *(f"line {each}" for each in hidden_in_texts(text))]
        if places:
            asked = f"`{name}` runs code from {', '.join(places[:3])}: does the goal say so?"
            # An accepted question must not cover another content of the files.
            contents = [f"{each}: {hashlib.sha256(source.data[each]).hexdigest()}" for each in files]
            after = "\n".join([text, *contents])
            yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_HIDDEN, after=after)


def _about_programs(source: NewSource) -> Iterator[Question]:
    for name, data in source.data.items():
        if source.begins_with(name, PROGRAMS):
            asked = f"`{name}` is a compiled program or library: does the goal say so?"
            after = hashlib.sha256(data).hexdigest()
            yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_HIDDEN_PROGRAM, after=after)


def _about_states(source: NewSource) -> Iterator[Question]:
    tests = ""
    for name, text in source.texts.items():
        tests = tests or "\n".join(source.tests.values())
        for state in states_set(text, tests):
            if not any(state in states_set(each, tests) for each in source.known.values()):
                asked = f"`{name}` sets {state}, on which tests depend: does the goal say so?"
                yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_STATE, after=state)


def _about_tools(source: NewSource) -> Iterator[Question]:
    for name, tools in new_to_sources(source, tools_imported):
        asked = f"`{name}` imports {', '.join(tools)}, a tool of the tests: does the goal say so?"
        yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_TOOL, after="\n".join(tools))


def _about_inner_parts(source: NewSource) -> Iterator[Question]:
    for name, parts in new_to_sources(source, inner_parts):
        listed = ", ".join(f"`{each}`" for each in parts)
        asked = f"`{name}` looks behind values by {listed}: does the goal say so?"
        yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_INNER, after="\n".join(parts))
