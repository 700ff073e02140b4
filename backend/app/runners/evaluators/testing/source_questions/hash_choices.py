"""Finds code that chooses by a hash, such as an answer from a table of checksums. Pure."""

import ast
from collections.abc import Callable, Collection, Iterator

from app.runners.evaluators.testing.source_questions.closed_expressions import called

HASHES = frozenset(
    {
        *("hash", "id", "crc32", "adler32", "crc_hqx", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"),
        *("blake2b", "blake2s", "hexdigest", "digest"),
    }
)
"""Functions whose results say little about what they mean, by the last part of their names."""

_MAKERS = frozenset({"dict", "list", "tuple", "set", "frozenset", "zip", "fromkeys", "loads", "array"})
"""Functions that make a container of others, or of a text."""

_TABLE = "what it finds by a hash"
_TELLING = 1_000
"""Smaller numbers than this are rarely hashes."""

_MASK = 0xFFFF
"""More only shortens a hash, as in `crc32(data) & 0xFFFFFFFF`."""


def choices_by_hash(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield on what a module depends, if it is chosen by a hash, with the line.

    A cache whose keys are hashes chooses nothing: it begins without entries.
    """
    hashes = names_of_hashes(module)
    tables = _names(module, _is_filled)
    for node in ast.walk(module):
        match node:
            case (
                ast.Subscript(value=table, slice=key)
                | ast.Call(func=ast.Attribute(value=table), args=[key, *_])
            ):
                found = _TABLE if _is_table(table, tables) and _is_hash(key, hashes) else ""
            case ast.Compare(left=key, comparators=[other]) if _is_table(other, tables) or _is_large(other):
                found = _TABLE if _is_hash(key, hashes) else ""
            case ast.Match(subject=key, cases=cases):
                large = any(_is_large(each) for case in cases for each in ast.walk(case.pattern))
                found = _TABLE if large and _is_hash(key, hashes) else ""
            case _:
                continue
        if found:
            yield found, node.lineno


def names_of_hashes(module: ast.Module) -> frozenset[str]:
    """Return the names to which a hash is assigned."""
    return _names(module, _has_hash)


def is_remainder_of_hash(node: ast.AST, hashes: Collection[str]) -> bool:
    """Return True for a few bits of a hash, or its remainder by a small constant."""
    match node:
        case ast.BinOp(left=left, op=ast.Mod() | ast.BitAnd(), right=ast.Constant(value=int() as few)):
            return few <= _MASK and _is_hash(left, hashes)
        case _:
            return False


def _names(module: ast.Module, is_one: Callable[[ast.expr], bool]) -> frozenset[str]:
    """Return the names to which such a value is assigned."""
    found = set[str]()
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=targets, value=value) if is_one(value):
                found.update(each.id for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if is_one(value):
                found.add(name)
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if is_one(value):
                found.add(name)
            case _:
                continue
    return frozenset(found)


def _is_hash(node: ast.expr, hashes: Collection[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in hashes for each in ast.walk(node)) or _has_hash(node)


def _has_hash(node: ast.expr) -> bool:
    return any(called(each) in HASHES for each in ast.walk(node))


def _is_table(node: ast.expr, tables: Collection[str]) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in tables
        case _:
            return _is_filled(node)


def _is_filled(node: ast.expr) -> bool:
    """Return True for a container with constants in plain sight."""
    match node:
        case (
            ast.Dict(keys=entries) | ast.List(elts=entries) | ast.Tuple(elts=entries) | ast.Set(elts=entries)
        ):
            return any(isinstance(each, ast.Constant | ast.Tuple) for each in entries)
        case ast.Call(func=ast.Attribute(value=ast.Constant())):
            return True
        case ast.Call(args=args) if called(node) in _MAKERS:
            return any(_is_filled(each) or isinstance(each, ast.Constant) for each in args)
        case _:
            return False


def _is_large(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=int() as number) | ast.MatchValue(value=ast.Constant(value=int() as number)):
            return abs(number) >= _TELLING
        case _:
            return False
