"""Finds the conditions of a module. Pure."""

import ast
from collections.abc import Iterator


def conditions(module: ast.Module) -> Iterator[ast.expr]:
    """Yield the expressions on whose truth something depends."""
    for node in ast.walk(module):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield test
            case ast.BoolOp(values=values):
                yield from values[:-1]
            case ast.comprehension(ifs=ifs):
                yield from ifs
            case ast.Match(subject=subject):
                yield subject
            case _:
                continue
