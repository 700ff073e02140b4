"""Makes a type checker look into functions without annotations, if the base has no such functions."""

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from app.core.python_source import parse_module

_CHECK = "# mypy: check-untyped-defs"
_TESTS = ("test_*.py", "*_test.py", "conftest.py")
_TEST_DIRECTORIES = frozenset({"test", "tests"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


def annotates_all(base: Mapping[str, str]) -> bool:
    """Return True if a project annotates its functions, not counting its tests.

    Args:
        base: the text of each of its Python files by name.
    """
    functions = [each for name, text in base.items() if not is_of_tests(name) for each in _functions(text)]
    return bool(functions) and all(map(_is_annotated, functions))


def checked_throughout(texts: Mapping[str, str]) -> dict[str, str]:
    """Return files in which mypy checks every function. Tests stay unchanged, and no line moves."""
    return {name: text if is_of_tests(name) else _asking(text) for name, text in texts.items()}


def is_of_tests(name: str) -> bool:
    """Return True if a file belongs to tests by its name."""
    *places, base = name.split("/")
    return bool(_TEST_DIRECTORIES.intersection(places)) or any(
        fnmatchcase(posixpath.basename(base), pattern) for pattern in _TESTS
    )


def _asking(text: str) -> str:
    has_other = any(not _is_annotated(each) for each in _functions(text))
    return f"{text.rstrip()}\n{_CHECK}\n" if has_other else text


def _functions(text: str) -> Iterator[Function]:
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_trivial(node):
            yield node


def _is_trivial(function: Function) -> bool:
    """Return True if a function takes only itself, so that mypy may treat it as unannotated."""
    return not [each for each in _parameters(function) if each.arg not in ("self", "cls")]


def _is_annotated(function: Function) -> bool:
    return function.returns is not None or any(each.annotation for each in _parameters(function))


def _parameters(function: Function) -> Iterable[ast.arg]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [each for each in every if each is not None]
