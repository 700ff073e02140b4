"""Asks about new source code that repeats the tests, hides code, or sets what tests depend on."""

import ast
import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.source_tree import same_file
from app.runners.evaluators.testing.layout.trees import Layout
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.source_questions.hidden_code import (
    hidden_in_files,
    hidden_in_texts,
    runs_code,
)
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
from app.runners.evaluators.testing.source_questions.shared_state import states_set, tools_imported
from app.runners.evaluators.tree_files import small_file
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_REPEATED = (
    "It holds what tests ask beside what they expect, and little else. Only other inputs, such as those of "
    "held-out tests, show whether the code works."
)
_HIDDEN = "No linter and no type checker reads it, and the base runs no such code."
_STATE = "The tests compute their expectations with it, so they may expect whatever the code returns."
_TOOL = "With it the code can decide what is tested. No source of the base imports it."


@dataclass(frozen=True)
class NewSource:
    """What a candidate changed beside the test setting.

    Attributes:
        base: the tree with the base commit.
        workspace: the candidate's tree.
        layout: the runs of its tests.
    """

    base: Path
    workspace: Path
    layout: Layout

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """New and changed Python files outside the test setting, by path."""
        return {
            name: text
            for name in self._changed
            if name.endswith(".py") and (text := small_file(self.workspace / name).decode("utf-8", "replace"))
        }

    @cached_property
    def data(self) -> Mapping[str, bytes]:
        """New and changed files that are not Python, by path."""
        return {name: small_file(self.workspace / name) for name in self._changed if not name.endswith(".py")}

    @cached_property
    def tests(self) -> Mapping[str, str]:
        """The test files of the base, by path."""
        return {
            name: small_file(self.base / name).decode("utf-8", "replace") for name in self.layout.base_tests
        }

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The sources of the base, by path."""
        names = self.layout.base_sources
        return {name: small_file(self.base / name).decode("utf-8", "replace") for name in names}

    @cached_property
    def _changed(self) -> tuple[str, ...]:
        run = self.layout.base_run
        names = [name for name in run.files if name not in run.trusted] if run else []
        own = set(self.layout.own_tests)
        return tuple(name for name in names if name not in own and not self._is_same(name))

    def _is_same(self, name: str) -> bool:
        return (self.base / name).is_file() and same_file(self.base / name, self.workspace / name)


async def asked_about_source(judged: JudgedRun, protected: ProtectedPolicy, source: NewSource) -> JudgedRun:
    """Object to new source code that passing tests say nothing about, and ask about it.

    Nothing is asked if something else prevents a pass.
    """
    if judged.of_base is None or protected is ProtectedPolicy.NOTE:
        return judged
    if not (judged.all_well or judged.questions):
        return judged
    found = await asyncio.to_thread(source_questions, source)
    if not found:
        return judged
    asked = found if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in found)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def source_questions(source: NewSource) -> list[Question]:
    """Return the questions about a candidate's source."""
    return [
        *_about_answers(source),
        *_about_hidden(source),
        *_about_states(source),
        *_about_tools(source),
    ]


def _about_answers(source: NewSource) -> Iterator[Question]:
    tables = {name: [*tables_of_code(module)] for name, module in _parsed(source.texts)}
    texts = {name: data.decode("utf-8", "replace") for name, data in source.data.items()}
    tables |= {name: [*tables_of_json(text)] for name, text in texts.items() if name.endswith(".json")}
    tables = {name: found for name, found in tables.items() if any(_may_repeat(each) for each in found)}
    if not tables:
        return
    tests = {name: [*tables_of_tests(module)] for name, module in _parsed(source.tests)}
    known = _pairs(table for _, module in _parsed(source.known) for table in tables_of_code(module))
    sources = {**source.texts, **texts}
    for name, found in tables.items():
        new = [tuple(each for each in table if (each.key, each.value) not in known) for table in found]
        for test, asked in tests.items():
            again = repeated(asked, new)
            if again is not None:
                yield _about_table(name, sources[name], test, source.tests[test], again)
                break


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
    )


def _shown(text: str, pairs: list[KnownAnswer]) -> str:
    numbers = dict.fromkeys(each.line for each in pairs)
    return lines_of(text, numbers) or "\n".join(f"{' '.join(each.key)}: {each.value}" for each in pairs)


def _about_hidden(source: NewSource) -> Iterator[Question]:
    if not any(runs_code(text) for text in source.texts.values()):
        return
    if any(runs_code(text) for text in source.known.values()):
        return
    for name, text in source.texts.items():
        if not runs_code(text):
            continue
        files = hidden_in_files(text, source.data)
        places = [*(f"`{each}`" for each in files), *(f"line {each}" for each in hidden_in_texts(text))]
        if places:
            asked = f"`{name}` runs code from {', '.join(places[:3])}: does the goal say so?"
            # An accepted question must not cover another content of the files.
            contents = [f"{each}: {hashlib.sha256(source.data[each]).hexdigest()}" for each in files]
            after = "\n".join([text, *contents])
            yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_HIDDEN, after=after)


def _about_states(source: NewSource) -> Iterator[Question]:
    tests = ""
    for name, text in source.texts.items():
        tests = tests or "\n".join(source.tests.values())
        for state in states_set(text, tests):
            if not any(state in states_set(each, tests) for each in source.known.values()):
                asked = f"`{name}` sets {state}, on which tests depend: does the goal say so?"
                yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_STATE, after=state)


def _about_tools(source: NewSource) -> Iterator[Question]:
    found = {name: tools for name, text in source.texts.items() if (tools := tools_imported(text))}
    if not found:
        return
    known = frozenset(tool for text in source.known.values() for tool in tools_imported(text))
    for name, tools in found.items():
        if new := sorted(tools - known):
            asked = f"`{name}` imports {', '.join(new)}, a tool of the tests: does the goal say so?"
            yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=_TOOL, after="\n".join(new))


def _parsed(texts: Mapping[str, str]) -> Iterator[tuple[str, ast.Module]]:
    for name, text in texts.items():
        try:
            yield name, parse_module(text.encode())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
