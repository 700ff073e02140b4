"""Reads what handlers of exceptions do. Pure."""

import ast
from collections.abc import Collection
from typing import TypeGuard


def swallows(node: ast.AST, classes: Collection[str]) -> TypeGuard[ast.ExceptHandler]:
    """Return True for a handler that names one of some exceptions, and raises nothing."""
    if not isinstance(node, ast.ExceptHandler) or node.type is None:
        return False
    named = any(isinstance(each, ast.Name) and each.id in classes for each in ast.walk(node.type))
    return named and not any(isinstance(each, ast.Raise) for each in ast.walk(node))
