"""Asks about tests that are skipped as before, although the goal is about what they wait for."""

import ast
import asyncio
import builtins
import re
from collections.abc import Iterator
from dataclasses import replace

from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.running.report import Outcome, RunReport
from app.runners.evaluators.testing.sorting.goal import Goal
from app.runners.evaluators.testing.sorting.judged import JudgedRun
from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed
from app.schemas.questions import ProtectedPolicy, Question, QuestionKind

_MODULE = re.compile(r"could not import '([\w.]+)'")
_SKIPS = ("skipif", "skipUnless", "skipIf")
_LEAST_CHARS = 4
_WHY = "It was skipped at the base, too, and says nothing about the work: `{}` is what it waits for."


async def asked_about_skips(
    judged: JudgedRun, protected: ProtectedPolicy, goal: Goal, source: NewSource
) -> JudgedRun:
    """Object to tests that still wait for what the goal is about, and ask about them.

    A test waits for a module that it cannot import, or for a name in the condition of its skip. Nothing is
    asked if something else prevents a pass.
    """
    of_base = judged.of_base
    if of_base is None or protected is ProtectedPolicy.NOTE or not (judged.all_well or judged.questions):
        return judged
    found = await asyncio.to_thread(lambda: dict(_waiting(of_base, goal, source)))
    if not found:
        return judged
    questions = [_about(test, name) for test, name in found.items()]
    asked = questions if protected is ProtectedPolicy.ASK else []
    doubtful = [*judged.doubtful, *(each.text for each in questions)]
    return replace(judged, doubtful=doubtful, questions=(*judged.questions, *asked))


def _waiting(report: RunReport, goal: Goal, source: NewSource) -> Iterator[tuple[str, str]]:
    """Yield skipped tests, or files of them, each with what they wait for."""
    messages = {each.id: each.message for each in report.problems if each.skipped}
    skipped = [each for each in report.tests.values() if each.outcome is Outcome.SKIPPED]
    messages |= {function_of(each.id): each.message for each in skipped}
    conditions: dict[str, dict[str, set[str]]] = {}
    for test, message in messages.items():
        file = file_of(test)
        if file not in conditions:
            conditions[file] = _conditions(source.tests.get(file, ""))
        module = _MODULE.search(message)
        names = {module[1]} if module else _names_for(test, conditions[file])
        if awaited := next((each for each in sorted(names) if _is_the_work(each, goal, source)), ""):
            yield test, awaited


def _is_the_work(name: str, goal: Goal, source: NewSource) -> bool:
    """Return True if the goal names something, and the candidate's own sources hold it.

    What Python itself brings, such as `AttributeError`, is not for a run to write.
    """
    if hasattr(builtins, name):
        return False
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", goal.words) is None:
        return False
    path = name.replace(".", "/")
    is_module = any(each.endswith((f"{path}.py", f"{path}/__init__.py")) for each in source.texts)
    return is_module or any(re.search(rf"\b{re.escape(name)}\b", text) for text in source.texts.values())


def _names_for(test: str, conditions: dict[str, set[str]]) -> set[str]:
    """Return the names in the conditions of a test, its classes and its file."""
    parts = test.split("::")[1:]
    holders = ["::".join(parts[:end]) for end in range(len(parts) + 1)]
    return set[str]().union(*(conditions.get(each, set()) for each in holders))


def _conditions(text: str) -> dict[str, set[str]]:
    """Return the names in the conditions for skips, by class and function; `""` is the whole file."""
    found: dict[str, set[str]] = {}
    for _, module in parsed({"": text}):
        for each in module.body:
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "pytestmark":
                found[""] = _names([each.value])
        found |= dict(_of_body(module.body, ""))
    return found


def _of_body(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, set[str]]]:
    for each in body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}{each.name}", _names(each.decorator_list)
            if isinstance(each, ast.ClassDef):
                yield from _of_body(each.body, f"{prefix}{each.name}::")


def _names(marks: list[ast.expr]) -> set[str]:
    calls = [each for mark in marks for each in ast.walk(mark) if isinstance(each, ast.Call)]
    skips = [each for each in calls if ast.unparse(each.func).rpartition(".")[2] in _SKIPS and each.args]
    nodes = [each for call in skips for each in ast.walk(call.args[0])]
    names = [each.attr for each in nodes if isinstance(each, ast.Attribute)]
    names += [each.id for each in nodes if isinstance(each, ast.Name)]
    return {each for each in names if len(each) >= _LEAST_CHARS}


def _about(test: str, name: str) -> Question:
    text = f"`{test}` is still skipped, and the goal is about `{name}`: may that be?"
    return Question.about(test, QuestionKind.DOUBTFUL, text, why=_WHY.format(name), after=name)
