"""Reads from the text of `noxfile.py` what a project's sessions install for its tests. Nothing is run."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.core.python_source import parse_module
from app.workspaces.environments.reading import read_text

_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w,.\s-]*\])?\s*(?:(?:[<>=!~]=?|===)[^/]*)?")
_RUNNERS = frozenset({"pytest", "py.test", "unittest", "trial", "virtue", "stestr", "nose2", "green"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def nox_requirements(tree: Path) -> list[str]:
    """Return the requirements that sessions install which run tests. The list is empty if none can be read.

    A function that a session calls is part of it. Only names and versions written as literal text count, also
    in a list of the session or of the file. Addresses, paths, files and computed texts are left out.

    Args:
        tree: the base.

    Raises:
        DeclarationError: the file cannot be read as text.
    """
    text = read_text(tree, "noxfile.py")
    try:
        module = parse_module(text.encode()) if text else None
    except (SyntaxError, ValueError, RecursionError):
        module = None
    if module is None:
        return []
    lists = _lists(module.body)
    found: dict[str, None] = {}
    for each in _sessions(module.body):
        known = {**lists, **_lists(each.body)}
        if _runs_tests(each, known):
            for word in _installed(each, known):
                if _REQUIREMENT.fullmatch(word):
                    found[word] = None
    return list(found)


def _sessions(body: list[ast.stmt]) -> list[_Function]:
    """Return the decorated functions of a file, and the functions that these call by name."""
    functions = [each for each in body if isinstance(each, _Function)]
    sessions = [each for each in functions if each.decorator_list]
    called = {
        node.func.id
        for each in sessions
        for node in ast.walk(each)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return [each for each in functions if each in sessions or each.name in called]


def _lists(body: list[ast.stmt]) -> dict[str, list[str]]:
    """Return the lists of texts that are assigned to names."""
    return {
        target.id: list(_texts(each.value))
        for each in body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.List | ast.Tuple)
        for target in each.targets
        if isinstance(target, ast.Name)
    }


def _texts(node: ast.List | ast.Tuple) -> Iterator[str]:
    for each in node.elts:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _calls(function: _Function, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def _runs_tests(function: _Function, lists: Mapping[str, list[str]]) -> bool:
    return any(
        not _RUNNERS.isdisjoint(_words(each, lists)) for call in _calls(function, "run") for each in call.args
    )


def _installed(function: _Function, lists: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the arguments of each `install` call, without options and their values."""
    for call in _calls(function, "install"):
        words = [word for each in call.args for word in _words(each, lists)]
        before = ""
        for word in words:
            if not (word.startswith("-") or before in ("-e", "-r", "-c", "--editable", "--requirement")):
                yield word
            before = word


def _words(node: ast.expr, lists: Mapping[str, list[str]]) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Starred(value=ast.Name(id=name)):
            return lists.get(name, [])
        case ast.Starred(value=ast.List() | ast.Tuple() as given):
            return list(_texts(given))
        case _:
            return []
