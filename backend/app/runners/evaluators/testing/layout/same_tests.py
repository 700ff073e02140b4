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


def renamed_tests(name: str, base: Path, workspace: Path) -> dict[str, str]:
    """Return the ids of a file's tests that a workspace calls otherwise and that mean the same there.

    Each one is paired with the first such function of the same class or module.
    """
    before, after = (dict(_functions(root / name, name)) for root in (base, workspace))
    left = {each: meaning for each, meaning in after.items() if each not in before}
    found: dict[str, str] = {}
    for each, meaning in before.items():
        scope = each.rpartition("::")[0]
        same = (new for new, its in left.items() if its == meaning and new.rpartition("::")[0] == scope)
        if each not in after and (new := next(same, None)) is not None:
            found[each] = new
            del left[new]
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
