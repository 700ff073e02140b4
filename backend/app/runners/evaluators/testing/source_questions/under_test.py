"""Finds new code that asks whether tests run, and acts accordingly."""

import ast
import re
from collections.abc import Collection, Iterator

from app.core.python_source import parse_module
from app.runners.evaluators.testing.source_questions.conditions import conditions

_VARIABLE = re.compile(r"PYTEST\w*")
_TOOLS = frozenset({"pytest", "_pytest", "unittest", "nose", "py.test", "hypothesis"})
_CALLERS = re.compile(r"\b(?:_getframe|currentframe|inspect\.stack|extract_stack|walk_stack|f_back)\b")
_OF_TESTS = re.compile(r"test_?|tests|.*\bpytest\b.*|test_.*")
_DIRECTORY = re.compile(r"(?:.*/)?tests?/?")
_PLACES = ("exists", "is_dir", "is_file", "isdir", "isfile")
_PROCESS = ("sys.argv", "sys.modules", "sys.orig_argv", "find_spec")


def asks_for_tests(text: str) -> list[int]:
    """Return the lines on which a source makes something depend on whether tests run."""
    if "test" not in text and "PYTEST" not in text:
        return []
    try:
        module = parse_module(text.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    marked = {name for name, value in _assigned(module) if _is_about_tests(value, text, ())}
    return sorted({each.lineno for each in conditions(module) if _is_about_tests(each, text, marked)})


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.FunctionDef(name=name):
                yield from ((name, value) for each in ast.walk(node) if (value := _returned(each)))
            case _:
                continue


def _returned(node: ast.AST) -> ast.expr | None:
    return node.value if isinstance(node, ast.Return) else None


def _is_about_tests(condition: ast.expr, text: str, marked: Collection[str]) -> bool:
    shown = ast.unparse(condition)
    constants = [each.value for each in ast.walk(condition) if isinstance(each, ast.Constant)]
    texts = [each for each in constants if isinstance(each, str)]
    if any(_VARIABLE.fullmatch(each) for each in texts):
        return True
    if any(isinstance(each, ast.Name) and each.id in marked for each in ast.walk(condition)):
        return True
    if any(each in shown for each in _PROCESS) and any(_names_tool(each) for each in texts):
        return True
    if any(_asks_for_place(each) for each in ast.walk(condition)):
        return True
    is_of_tests = any(_OF_TESTS.fullmatch(each) for each in texts)
    return is_of_tests and (any(each in shown for each in _PROCESS) or _looks_at_caller(shown, text))


def _asks_for_place(node: ast.AST) -> bool:
    """Return True for a call that asks whether a directory of tests is there."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _PLACES:
            constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            return any(isinstance(each, str) and _DIRECTORY.fullmatch(each) for each in constants)
        case _:
            return False


def _names_tool(text: str) -> bool:
    return text in _TOOLS or "pytest" in text


def _looks_at_caller(shown: str, text: str) -> bool:
    is_name = re.search(r"\b(?:f_code|co_name|co_filename|function|filename|name|f_globals)\b", shown)
    return is_name is not None and _CALLERS.search(text) is not None
