"""Finds functions that lost their annotations, which a type checker then skips."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from app.core.python_source import parse_module
from app.runners.evaluators.static.baseline import Finding

RULE = "annotations-lost"

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def lost_annotations(base: Path, tree: Path, files: Iterable[str]) -> list[Finding]:
    """Return a finding for each function that is annotated at the base and not in the candidate.

    Functions with the same name, such as overloads and their implementation, are counted together: as many
    may lack annotations as at the base.

    Args:
        base: the tree with the base commit.
        tree: the candidate's tree.
        files: files to compare, as POSIX paths. Files that a tree lacks or that cannot be parsed are skipped.
    """
    found: list[Finding] = []
    for name in files:
        at_base = _functions(base / name)
        annotated = {path for path, each in at_base if _is_annotated(each)}
        bare = Counter(path for path, each in at_base if not _is_annotated(each))
        for path, each in _functions(tree / name) if annotated else ():
            if path not in annotated or _is_annotated(each):
                continue
            bare[path] -= 1
            if bare[path] < 0:
                message = f"{path} lost its annotations, so that it is not checked"
                found.append(Finding(name, each.lineno, RULE, message))
    return found


def _functions(file: Path) -> list[tuple[str, _Function]]:
    try:
        module = parse_module(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_below(module.body, ""))


def _below(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _below(node.body, f"{prefix}{node.name}.")


def _is_annotated(function: _Function) -> bool:
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return function.returns is not None or any(
        each is not None and each.annotation is not None for each in parameters
    )
