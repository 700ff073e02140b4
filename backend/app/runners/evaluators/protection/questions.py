"""Turns a candidate's changes to protected files into questions, with both versions side by side."""

import ast
import hashlib
import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from app.runners.evaluators.protection.changes import DefinitionChange, changes_between
from app.runners.evaluators.protection.config_sections import guarded_sections, has_guarded_sections
from app.runners.evaluators.protection.first_difference import first_difference
from app.runners.evaluators.protection.meaning import MeaningChange
from app.runners.evaluators.protection.snapshots import has_only_more
from app.schemas.questions import FEW_QUESTIONS, MAX_QUESTIONS, Question, QuestionKind

_NAMED = 10
_ENDING = "does the goal say so?"


def questions_about(
    name: str,
    before: bytes | None,
    after: bytes | None,
    *,
    but: Callable[[DefinitionChange], bool] | None = None,
) -> list[Question]:
    """Return questions about one protected file. There is none if its meaning is the same or only stronger.

    Args:
        name: the file, as a POSIX path relative to the tree.
        before: its content at the base; None if it did not exist.
        after: its content in the candidate; None if it was deleted.
        but: returns True for a changed definition that needs no question.
    """
    if name.endswith(".py") and before is not None and after is not None:
        changes = changes_between(before, after)
        if changes is not None:
            changes = [each for each in changes if but is None or not but(each)]
            texts = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
            return list(_of_definitions(name, changes, *texts))
    if before is not None and after is not None and has_only_more(name, before, after):
        return []
    return [question_of_file(name, before, after)]


def folded(questions: Sequence[Question]) -> list[Question]:
    """Return the questions, or one for each file if they are more than a few.

    If there are more files than one result can hold questions, one question names their directories. The key
    of such a question covers every change that it stands for.
    """
    if len(questions) <= FEW_QUESTIONS:
        return list(questions)
    by_file: dict[str, list[Question]] = {}
    for each in questions:
        by_file.setdefault(each.id.partition("::")[0], []).append(each)
    if len(by_file) > MAX_QUESTIONS:
        return [_of_all(by_file, questions)]
    return [each[0] if len(each) == 1 else _of_many(name, each) for name, each in by_file.items()]


def by_change(questions: Sequence[Question]) -> list[Question]:
    """Return the questions, with one for all tests that pass only with the same change beside them."""
    groups: dict[tuple[str, ...], list[Question]] = {}
    for each in questions:
        alike = (each.why, each.before, each.after, each.text.removeprefix(f"`{each.id}`"))
        groups.setdefault(alike, []).append(each)
    return [each[0] if len(each) == 1 else _of_several(each) for each in groups.values()]


def about_files(files: Sequence[Question], changes: Sequence[Question]) -> Question:
    """Return one question about all test files that load only in their changed versions.

    Args:
        files: the question about each file.
        changes: what the candidate changed in them. It is shown instead of the whole files, if there is any.
    """
    shown = map(_versions, changes or files)
    before, after = ("\n\n".join(filter(None, side)) for side in zip(*shown, strict=True))
    text = f"{len(files)} test files load with this code only in their changed versions: {_ENDING}"
    named = ", ".join(f"`{each.id}`" for each in files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    why = f"{named}{more}: {files[0].why}"
    question = Question.about("tests", QuestionKind.DIFFERENT, text, why=why, before=before, after=after)
    return question.standing_for(files)


def _of_several(questions: Sequence[Question]) -> Question:
    what, _, ending = questions[0].text.rpartition(": ")
    more = f"{len(questions) - 1} more"
    if "` passes only" in what:
        what = what.replace("` passes only", f"` and {more} pass only", 1)
    else:
        what = f"{what}, and so in {more}"
    text = f"{what}: {ending}"
    return questions[0].model_copy(update={"text": text}).standing_for(questions)


def _of_all(files: Collection[str], questions: Sequence[Question]) -> Question:
    counts = Counter(posixpath.dirname(each) or "." for each in files)
    places = ", ".join(f"{count} in `{place}`" for place, count in counts.most_common(_NAMED))
    more = " and more" if len(counts) > _NAMED else ""
    text = f"{len(files)} protected files were changed, {places}{more}: {_ENDING}"
    why = ", ".join(each.id for each in questions[:_NAMED]) + " and more"
    question = Question.about("tests", QuestionKind.DIFFERENT, text, why=why, after="\n".join(sorted(files)))
    return question.standing_for(questions)


def _of_many(name: str, questions: Sequence[Question]) -> Question:
    parts = "tests and helpers" if name.endswith(".py") else "settings"
    text = f"`{name}`: {len(questions)} of its {parts} were changed: {_ENDING}"
    named = "; ".join(map(_in_short, questions[:_NAMED]))
    more = f"; and {len(questions) - _NAMED} more" if len(questions) > _NAMED else ""
    before, after = ("\n\n".join(filter(None, side)) for side in zip(*map(_versions, questions), strict=True))
    question = Question.about(
        name, QuestionKind.DIFFERENT, text, why=f"{named}{more}", before=before, after=after
    )
    return question.standing_for(questions)


def _in_short(question: Question) -> str:
    """Return what a question says about a definition, without the name of its file."""
    return question.text.removesuffix(f": {_ENDING}").replace(
        f"`{question.id}`", f"`{_name_in_file(question)}`", 1
    )


def _name_in_file(question: Question) -> str:
    path, _, name = question.id.partition("::")
    return name or path


def _versions(question: Question) -> tuple[str, str]:
    return question.before, question.after


def _of_definitions(
    name: str, changes: list[DefinitionChange], before: str, after: str
) -> Iterator[Question]:
    lines = before.splitlines(), after.splitlines()
    for each in changes:
        subject = f"{name}::{each.name}" if each.name else name
        old = each.origin[0] or _source(each.old, lines[0])
        new = each.origin[1] or _source(each.new, lines[1])
        kind = _kind(each)
        what = _precisely(each) or each.why
        text = f"`{subject}` {what}: {_ENDING}"
        yield Question.about(subject, kind, text, why=each.why, before=old, after=new)


def _kind(change: DefinitionChange) -> QuestionKind:
    if change.old and not change.new:
        return QuestionKind.REMOVED
    return QuestionKind.WEAKER if change.change is MeaningChange.WEAKER else QuestionKind.DIFFERENT


def _precisely(change: DefinitionChange) -> str:
    """Return what a test expects now and expected before, if that is one short pair of expressions."""
    if not (change.old and change.new):
        return ""
    pair = first_difference(change.old[0], change.new[0])
    if pair is None:
        return ""
    before, after = pair
    if "skipped" in change.why:
        return f"{change.why}: `{after}` where it was `{before}`"
    verb = "expects" if change.is_test else "has"
    return f"now {verb} `{after}` where it was `{before}`"


def _source(nodes: tuple[ast.stmt, ...], lines: list[str]) -> str:
    """Return the source of some statements with their decorators."""
    parts: list[str] = []
    for node in nodes:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        parts.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n".join(parts)


def question_of_file(name: str, before: bytes | None, after: bytes | None) -> Question:
    """Return a question about a file as a whole."""
    if after is None:
        kind, what = QuestionKind.REMOVED, "was deleted"
    elif before is None:
        kind, what = QuestionKind.ADDED, "was added and would decide later runs"
    else:
        kind, what = QuestionKind.DIFFERENT, "was changed"
    text = f"`{name}` {what}: {_ENDING}"
    old, new = _shown(name, before), _shown(name, after)
    return Question.about(name, kind, text, why=what, before=old, after=new)


def _shown(name: str, content: bytes | None) -> str:
    """Return the part of a file that matters: the guarded sections, or all of it."""
    if content is None:
        return ""
    if has_guarded_sections(name):
        sections = guarded_sections(name, content)
        if sections is not None:
            return "\n".join(f"[{each}] {value}" for each, value in sections.items())
    if b"\0" in content:
        return f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}"
    return content.decode("utf-8", "replace")
