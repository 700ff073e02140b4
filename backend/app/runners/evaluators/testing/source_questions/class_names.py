"""Names classes as Python does in `__qualname__`. Pure."""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath


def classes_of(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield a module's classes with their qualified names, such as `Outer.Inner` or `f.<locals>.Kind`."""
    for each in ast.iter_child_nodes(node):
        match each:
            case ast.ClassDef(name=name):
                yield f"{prefix}{name}", each
                yield from classes_of(each, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from classes_of(each, f"{prefix}{name}.<locals>.")
            case _:
                yield from classes_of(each, prefix)


def may_be_class_of(name: str, path: str, qualified: str) -> bool:
    """Return True if a class may be that of a file, whichever directory imports begin in.

    Args:
        name: the class with its module, as in `package.module.Kind`.
        path: the file, relative to the tree.
        qualified: the class in that file.
    """
    parts = PurePosixPath(path).with_suffix("").parts
    full = ".".join(["", *(parts[:-1] if parts[-1] == "__init__" else parts), qualified])
    return full.endswith(f".{name}")
