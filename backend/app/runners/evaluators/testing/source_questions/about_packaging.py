"""Asks about what a project newly makes others install or load, and about hooks that decide how tests end."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed
from app.runners.evaluators.tree_files import small_file
from app.schemas.questions import Question, QuestionKind
from app.workspaces.environments.groups import wanted
from app.workspaces.environments.imported import distributions_of, modules_in
from app.workspaces.environments.naming import names_in
from app.workspaces.environments.project import entry_points_of
from app.workspaces.environments.reading import DeclarationError

_LOADED_BY = {
    "pytest11": "every run of pytest",
    "hypothesis": "every program that uses Hypothesis",
    "distutils.commands": "every build",
    "setuptools.finalize_distribution_options": "every build",
    "setuptools.file_finders": "every build",
}
"""Who loads the entry points of a group, without being asked."""

_DECIDING_HOOKS = frozenset(
    {
        *("pytest_runtest_protocol", "pytest_runtest_makereport", "pytest_runtest_logreport"),
        *("pytest_runtest_call", "pytest_pyfunc_call", "pytest_make_collect_report"),
        *("pytest_report_teststatus", "pytest_sessionfinish", "pytest_ignore_collect"),
    }
)
_LEAVES_OUT = frozenset({"collect_ignore", "collect_ignore_glob"})
_RESULTS = frozenset({"excinfo", "outcome", "longrepr", "exitstatus", "testsfailed", "wasxfail", "_excinfo"})
_FORCED = frozenset({"force_result", "force_exception"})

_UNUSED = "Whoever installs the project installs it, too. No source imports it, and nothing new is imported."
_LOADED = (
    "Its code then runs where people have the project installed, but do not use it. Tests do not show that."
)
_DECIDES = "Later tests in its directory then pass or fail as it says. This change was judged without it."


def about_packaging(source: NewSource) -> Iterator[Question]:
    """Yield the questions about requirements, entry points and hooks of pytest."""
    yield from _about_hooks(source)
    try:
        yield from _about_entry_points(source)
        yield from _about_requirements(source)
    except DeclarationError:
        return


def _about_requirements(source: NewSource) -> Iterator[Question]:
    new = _requirements(source.workspace) - _requirements(source.base)
    if not new:
        return
    known = frozenset(each for text in source.known.values() for each in modules_in(text))
    changed = frozenset(each for text in source.texts.values() for each in modules_in(text))
    # A package can have another name than its module.
    if changed - known - sys.stdlib_module_names:
        return
    sources = "\n".join((*source.known.values(), *source.texts.values()))
    for name in sorted(new - distributions_of(known | changed)):
        # A plug-in may be named in a text.
        if re.search(rf"\b{name.replace('-', '[-_.]')}\b", sources, re.IGNORECASE):
            continue
        text = f"The project newly requires the package `{name}`, which no source imports: may that be?"
        yield Question.about(f"requires {name}", QuestionKind.DOUBTFUL, text, why=_UNUSED, after=name)


def _requirements(tree: Path) -> set[str]:
    """Return the names of what a tree requires in any use. Stubs and builds are not meant."""
    return {each for each in names_in(wanted(tree).requirements) if not each.startswith("types-")}


def _about_entry_points(source: NewSource) -> Iterator[Question]:
    before, after = entry_points_of(source.base), entry_points_of(source.workspace)
    for group, loaded_by in _LOADED_BY.items():
        for name, target in after.get(group, {}).items():
            if before.get(group, {}).get(name) != target:
                text = (
                    f"{loaded_by.capitalize()} newly loads `{target}` of this project: does the goal say so?"
                )
                yield Question.about(
                    target, QuestionKind.DOUBTFUL, text, why=_LOADED, after=f"{group} {name}"
                )


def _about_hooks(source: NewSource) -> Iterator[Question]:
    added = [name for name in source.layout.added if name.endswith(".py")]
    texts = {name: small_file(source.workspace / name).decode("utf-8", "replace") for name in added}
    if not any("def pytest_" in text for text in source.known.values()):
        # The project was no plug-in of pytest so far.
        texts |= source.texts
    for name, module in parsed(texts):
        for hook, line in _deciding_hooks(module).items():
            place = f"the new `{name}`" if name in added else f"`{name}`"
            text = f"`{hook}` in {place} decides how tests end, on line {line}: does the goal say so?"
            yield Question.about(
                f"{name}::{hook}", QuestionKind.DOUBTFUL, text, why=_DECIDES, after=texts[name]
            )


def _deciding_hooks(module: ast.Module) -> Mapping[str, int]:
    """Return the hooks and lists of a module that set what becomes of tests, each with the line."""
    functions = (each for each in module.body if isinstance(each, ast.FunctionDef))
    hooks = {each.name: each for each in functions if each.name.startswith("pytest_")}
    lines = {
        name: next(_decisions(each) if name in _DECIDING_HOOKS else _excuses(each), None)
        for name, each in hooks.items()
    }
    left_out = {name: each.lineno for each in module.body for name in _names_set(each) if name in _LEAVES_OUT}
    return {**left_out, **{name: line for name, line in lines.items() if line is not None}}


def _names_set(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _excuses(hook: ast.FunctionDef) -> Iterator[int]:
    """Yield the lines on which a hook says that tests are expected to fail."""
    yield from (
        each.lineno for each in ast.walk(hook) if isinstance(each, ast.Attribute) and each.attr == "xfail"
    )


def _decisions(hook: ast.FunctionDef) -> Iterator[int]:
    for node in ast.walk(hook):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) if name in _RESULTS:
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr=name)) if name in _FORCED:
                yield node.lineno
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=name), *_]) if (
                name in _RESULTS
            ):
                yield node.lineno
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield node.lineno
            case _:
                continue


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
