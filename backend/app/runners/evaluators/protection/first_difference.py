"""Finds the place where two versions of a function differ, if it is one short place. Pure."""

import ast


def first_difference(old: ast.AST, new: ast.AST) -> tuple[str, str] | None:
    """Return the source of the expressions that differ if it is one short pair, else None."""
    pairs = _differing(old, new)
    texts = {(ast.unparse(one), ast.unparse(other)) for one, other in pairs}
    if len(texts) != 1:
        return None
    before, after = texts.pop()
    is_short = max(len(before), len(after)) <= 80 and "\n" not in before + after
    return (before, after) if is_short and all(map(_is_expression, *zip(*pairs, strict=True))) else None


def _is_expression(*nodes: ast.AST) -> bool:
    return all(isinstance(each, ast.expr) for each in nodes)


def _differing(old: ast.AST, new: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return the smallest parts that differ."""
    if ast.dump(old) == ast.dump(new):
        return []
    if type(old) is not type(new):
        return [(old, new)]
    found: list[tuple[ast.AST, ast.AST]] = []
    for field in old._fields:
        pairs = _paired(getattr(old, field, None), getattr(new, field, None))
        if pairs is None:
            return [(old, new)]
        found += [pair for one, other in pairs for pair in _differing(one, other)]
    is_operator = any(not isinstance(one, ast.expr | ast.stmt | ast.keyword) for one, _ in found)
    return [(old, new)] if is_operator and isinstance(old, ast.expr) else found


def _paired(old: object, new: object) -> list[tuple[ast.AST, ast.AST]] | None:
    """Return the nodes of one field in pairs.

    Return None if they cannot be paired, or plain values differ.
    """
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return [(old, new)]
    if not (isinstance(old, list) and isinstance(new, list)):
        return [] if old == new else None
    if len(old) != len(new):  # pyright: ignore[reportUnknownArgumentType]
        return None
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for one, other in zip(old, new, strict=True):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(one, ast.AST) and isinstance(other, ast.AST):
            pairs.append((one, other))
        elif one != other:
            return None
    return pairs
