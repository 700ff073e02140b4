"""Asks about new hooks of pytest that decide how tests end."""

import ast
from collections.abc import Iterator, Mapping

from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed
from app.runners.evaluators.tree_files import small_file
from app.schemas.questions import Question, QuestionKind

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

_DECIDES = "Later tests in its directory then pass or fail as it says. This change was judged without it."


def about_hooks(source: NewSource) -> Iterator[Question]:
    """Yield the questions about hooks in what was added to the tests, or in code that had none."""
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
