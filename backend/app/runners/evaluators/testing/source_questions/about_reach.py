"""Asks about what new code depends on, what it can do, and whose place it takes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from app.runners.evaluators.testing.source_questions.circumstances import circumstances
from app.runners.evaluators.testing.source_questions.known_answers import lines_of
from app.runners.evaluators.testing.source_questions.new_source import NewSource, new_to_sources
from app.runners.evaluators.testing.source_questions.other_machines import (
    new_origins,
    new_reach,
    runs_for_developers,
)
from app.runners.evaluators.testing.source_questions.powers import powers
from app.runners.evaluators.testing.source_questions.shadows import shadows
from app.runners.evaluators.tree_files import small_file
from app.schemas.questions import Question, QuestionKind

_CIRCUMSTANCES = (
    "Tests hardly differ in that, so they pass even if the code does something else later. No source of the "
    "base depends on it."
)
_POWERS = "Passing tests say nothing about what else it does with that. No source of the base does so."
_DEVELOPERS = "An editor, a shell, git or a coding agent reads it. No test runs what it starts."
_ORIGINS = "People who use this file get and run what that place offers."
_SHADOWS = "Tests import only one of them, perhaps not the one that users get."

_doubtful = partial(Question.about, kind=QuestionKind.DOUBTFUL)


def about_reach(source: NewSource, asked: Collection[str]) -> Iterator[Question]:
    """Yield the questions about what new code depends on, what it can do, and whose place it takes.

    Args:
        source: the changed sources.
        asked: the files with hidden code, about which a person is asked anyway.
    """
    depends = "`{}` depends on {}, on line {}: does the goal say so?"
    yield from _about_lines(source, circumstances, depends, _CIRCUMSTANCES)
    can = "`{}` newly {}, on line {}: does the goal say so?"
    yield from (each for each in _about_lines(source, powers, can, _POWERS) if each.id not in asked)
    yield from _about_other_machines(source)
    for name, module, other in shadows(source):
        text = f"`{name}` provides the module `{module}`, as `{other}` does: which of them is meant?"
        yield Question.about(name, QuestionKind.DOUBTFUL, text, why=_SHADOWS, after=source.texts[name])


def _about_other_machines(source: NewSource) -> Iterator[Question]:
    for name, data in source.data.items():
        before = small_file(source.base / name).decode("utf-8", "replace")
        after = data.decode("utf-8", "replace")
        for reach, lines in new_reach(name, before, after):
            text = f"`{name}`, {reach.says} `{lines[0][:80]}`: may that be?"
            yield _doubtful(name, text=text, why=reach.why, after="\n".join(lines))
        if runs_for_developers(name):
            text = f"`{name}` can run programs where people work on the project: does the goal say so?"
            yield _doubtful(name, text=text, why=_DEVELOPERS, before=before, after=after)
        if origins := new_origins(name, before, after):
            text = (
                f"`{name}` newly takes programs or packages from `{origins[0][:80]}`: does the goal say so?"
            )
            yield _doubtful(name, text=text, why=_ORIGINS, after="\n".join(origins))


def _about_lines(
    source: NewSource, found_by: Callable[[str], Mapping[str, Sequence[int]]], wording: str, why: str
) -> Iterator[Question]:
    for name, found in new_to_sources(source, lambda text: frozenset(found_by(text))):
        text = source.texts[name]
        lines = found_by(text)
        asked = wording.format(name, ", ".join(found), lines[found[0]][0])
        # An accepted question must not cover other lines.
        after = lines_of(text, dict.fromkeys(sorted(line for each in found for line in lines[each])))
        yield Question.about(name, QuestionKind.DOUBTFUL, asked, why=why, after=after)
