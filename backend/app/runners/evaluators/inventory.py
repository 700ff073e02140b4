"""Which tests a tree has: what of the base's tests a candidate lost, and what a file defines by its text."""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path


def function_of(test_id: str) -> str:
    """Give the id of the test function: the id without its parameters."""
    return test_id.partition("[")[0]


def file_of(test_id: str) -> str:
    """Give the file of a test, as a POSIX path relative to the tree."""
    return test_id.partition("::")[0]


def lost_tests(at_base: Iterable[str], present: Iterable[str]) -> list[str]:
    """Give the ids of the base's tests that a candidate no longer has.

    Parameters may be renamed, as long as a function has no fewer of them.
    """
    groups: dict[str, set[str]] = defaultdict(set)
    for each in present:
        groups[function_of(each)].add(each)
    wanted: dict[str, list[str]] = defaultdict(list)
    for each in at_base:
        wanted[function_of(each)].append(each)
    lost: list[str] = []
    for function, ids in wanted.items():
        here = groups[function]
        if not here:
            lost.append(function)
        elif len(here) < len(ids):
            lost += [each for each in ids if each not in here]
    return lost


def written_tests(tree: Path, files: Iterable[str]) -> list[str]:
    """Give the ids of the test functions that files define, read from their text.

    For files that cannot be imported: a project whose tests come first has just those.
    """
    found: list[str] = []
    for name in files:
        try:
            module = ast.parse((tree / name).read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        found += [f"{name}::{test}" for test in _functions(module.body)]
    return found


def differing(one: Path, other: Path, files: Collection[str]) -> list[str]:
    """Give those of the files that the two trees do not have alike."""
    return [name for name in files if _content(one / name) != _content(other / name)]


def _functions(body: Sequence[ast.stmt]) -> list[str]:
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test"):
                found.append(node.name)
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            found += [f"{node.name}::{name}" for name in _functions(node.body)]
    return found


def _is_test_class(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    return node.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
