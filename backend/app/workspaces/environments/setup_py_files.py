"""Finds the files from which a setup.py reads what the project requires, without running it."""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from app.core.python_source import parse_module
from app.workspaces.environments.reading import read_text
from app.workspaces.environments.setup_py import setup_call

_SUFFIXES = (".txt", ".in", ".pip")


def requirement_files_of_setup(tree: Path) -> list[str]:
    """Return the requirement files that a setup.py names where it makes `install_requires`.

    Raises:
        DeclarationError: the setup.py cannot be read.
    """
    try:
        module = parse_module(read_text(tree, "setup.py") or "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    call = setup_call(module)
    words = call.keywords if call else []
    wanted = [each.value for each in words if each.arg == "install_requires"]
    texts = dict.fromkeys(text for each in _made_by(module, wanted) for text in _texts(each))
    return [each for each in texts if each.endswith(_SUFFIXES) and _is_there(tree, each)]


def _made_by(module: ast.Module, wanted: list[ast.expr]) -> Iterator[ast.AST]:
    """Yield some expressions, and the statements and functions that give their names values."""
    waiting: list[ast.AST] = [*wanted]
    bodies = (each.body if isinstance(each, ast.If) else (each,) for each in module.body)
    left = [each for body in bodies for each in body if not _calls_setup(each)]
    while waiting:
        part = waiting.pop()
        yield part
        names = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
        making = [each for each in left if names.intersection(_names_set(each))]
        left = [each for each in left if each not in making]
        waiting += making


def _calls_setup(statement: ast.stmt) -> bool:
    return setup_call(ast.Module([statement], [])) is not None


def _names_set(statement: ast.stmt) -> set[str]:
    """Return the names to which a statement gives a value, or to whose list it adds one."""
    found: set[str] = set()
    for each in ast.walk(statement):
        match each:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend")):
                found.add(name)
            case _:
                continue
    return found


def _texts(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _is_there(tree: Path, name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and (tree / name).is_file()
