"""Finds tests that mean the same at the base and in a candidate, although their files changed."""

import ast
from collections.abc import Iterator, Set
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.protection.normal_form import normal_form
from app.runners.evaluators.testing.layout.trees import RunTree
from app.runners.evaluators.tree_files import small_file


def unchanged_tests(files: Set[str], base: Path, tree: RunTree) -> set[str]:
    """Return the ids of the functions in some files that mean the same at the base and in a tree."""
    found: set[str] = set()
    for name in tree.files.keys() & files:
        before, after = (dict(_functions(root / name, name)) for root in (base, tree.files[name]))
        found |= {each for each, meaning in before.items() if after.get(each) == meaning}
    return found


def _functions(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the meaning of each function in a file and its classes."""
    try:
        module = parse_module(small_file(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    scopes: list[tuple[str, list[ast.stmt]]] = [(name, module.body)]
    while scopes:
        above, body = scopes.pop()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{above}::{node.name}", normal_form(node)
            elif isinstance(node, ast.ClassDef):
                scopes.append((f"{above}::{node.name}", node.body))
