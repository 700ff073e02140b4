"""Tells which new statements ran in no test, and asks about them where that is wanted."""

from dataclasses import replace

from app.runners.evaluators.testing.running.report import PytestEnding, lines_of_all
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.sorting.unrun_code import UnrunCode, unrun_code
from app.runners.evaluators.testing.source_questions.new_source import NewSource
from app.schemas.modes import UntestedCode
from app.schemas.questions import Question, QuestionKind

_TOOLING = ("setup.py", "noxfile.py", "docs/conf.py", "doc/conf.py", "docs/source/conf.py")
_WHY = "Nothing shows that this code works. A process that a test starts is not looked at."


def watched_files(source: NewSource) -> frozenset[str]:
    """Return the new and changed files whose lines are recorded.

    The lines of files that run with the base's docstrings have other numbers.
    """
    return frozenset(source.code).difference(source.layout.doctests, _TOOLING)


def asked_about_unrun(judged: JudgedRun, policy: UntestedCode, source: NewSource) -> JudgedRun:
    """Add which new statements ran in no test, if all runs know it and nothing else prevents a pass.

    Args:
        judged: the runs.
        policy: with *ask*, a person decides; with *fail*, the run fails.
        source: what was changed.
    """
    found = _unrun(judged, source)
    if found is None or not (judged.all_well or judged.questions):
        return judged
    judged = replace(judged, unrun=found)
    if not found.count or policy is UntestedCode.NOTE:
        return judged
    if policy is UntestedCode.FAIL:
        return replace(judged, doubtful=(*judged.doubtful, found.sentence))
    question = _question(found, source)
    return replace(
        judged, doubtful=(*judged.doubtful, question.text), questions=(*judged.questions, question)
    )


def _unrun(judged: JudgedRun, source: NewSource) -> UnrunCode | None:
    watched = watched_files(source)
    are_whole = all(each.ending is PytestEnding.COMPLETE for each in judged.runs)
    if not (watched and are_whole) or judged.endless or judged.left_out:
        return None
    lines = lines_of_all(judged.runs)
    if lines is None:
        return None
    files = [(name, source.known.get(name, ""), source.code[name]) for name in sorted(watched)]
    return unrun_code(files, lines)


def _question(found: UnrunCode, source: NewSource) -> Question:
    parts: list[str] = []
    for name, spans in sorted(found.unrun.items()):
        lines = source.code[name].split("\n")
        parts += [f"# {name}", *(line for first, last in spans for line in lines[first - 1 : last])]
    text = f"{found.sentence}. Is that enough?"
    return Question.about("tests", QuestionKind.DOUBTFUL, text, why=_WHY, after="\n".join(parts))
