"""Recognises tests of a class that only exists for other test classes to extend it."""

import ast
import re
from collections.abc import Iterator

from app.core.python_source import parse_module
from app.runners.evaluators.protection.imports import imports_of
from app.runners.evaluators.testing.running.base_code import BaseCode

_PARTS = 3
"""Of the id of a test in a class."""

_MOST_FILES = 200
_PLACE = re.compile(r"^([^\s:]+):\d+: ")
_LACKS = re.compile(r"\bAttributeError: '(\w+)' object has no attribute ")
_NOT_IMPLEMENTED = re.compile(r"^\S+:\d+: NotImplementedError\b")


def is_of_abstract_class(message: str, test_id: str, code: BaseCode) -> bool:
    """Return True if a test lacks what only classes define that extend its own class.

    pytest also runs the tests of such a class, and other runners do not. The failure arises in the class's
    own file: a method is not implemented, or the test's object has no such attribute. No part of the class
    comes from the project's code, which the run might have to change.

    Args:
        message: of the failure at the base.
        test_id: the test.
        code: the base's code.
    """
    parts, place = test_id.split("::"), _PLACE.match(message)
    if len(parts) < _PARTS or place is None or place.group(1) in code.sources:
        return False
    file, name = place.group(1), parts[1]
    lacks = _LACKS.search(message)
    if lacks.group(1) != name if lacks else not _NOT_IMPLEMENTED.match(message):
        return False
    module = _module(code, file)
    found = next((each for each in _classes(module) if each.name == name), None)
    if module is None or found is None or not _is_apart(found, module, code):
        return False
    return any(
        name in _bases(each) for other in _beside(code, file) for each in _classes(_module(code, other))
    )


def _module(code: BaseCode, file: str) -> ast.Module | None:
    try:
        return parse_module(code.text(file))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _beside(code: BaseCode, file: str) -> list[str]:
    """Return the modules in a file's directory, itself among them."""
    place = (code.tree / file).parent
    names = sorted(each.relative_to(code.tree).as_posix() for each in place.glob("*.py"))
    return names[:_MOST_FILES]


def _classes(module: ast.Module | None) -> Iterator[ast.ClassDef]:
    yield from (each for each in (module.body if module else ()) if isinstance(each, ast.ClassDef))


def _bases(node: ast.ClassDef) -> set[str]:
    """Return the last names of what a class extends."""
    return {ast.unparse(each).rpartition(".")[2] for each in node.bases}


def _is_apart(node: ast.ClassDef, module: ast.Module, code: BaseCode) -> bool:
    """Return True if a class extends nothing of the project's own code that is not for tests."""
    origins = imports_of(each for each in ast.walk(module) if isinstance(each, ast.stmt))
    roots = {ast.unparse(each).partition(".")[0] for each in node.bases}
    return not any(_is_of_project(origins[each].split()[1], code) for each in roots if each in origins)


def _is_of_project(module: str, code: BaseCode) -> bool:
    path = re.escape(module.lstrip(".").replace(".", "/"))
    return any(re.search(rf"(?:^|/){path}(?:\.py$|/)", each) for each in code.sources)
