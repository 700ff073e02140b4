"""Finds code that depends on what hardly differs between tests, such as the date or the thread. Pure."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from app.core.python_source import parse_to_change
from app.runners.evaluators.testing.source_questions.closed_expressions import CHANCE, NOW, ClosedNames
from app.runners.evaluators.testing.source_questions.conditions import conditions
from app.runners.evaluators.testing.source_questions.counted_calls import compares_many, counters_of_calls
from app.runners.evaluators.testing.source_questions.hash_choices import (
    HASHES,
    choices_by_hash,
    is_remainder_of_hash,
    names_of_hashes,
)
from app.runners.evaluators.testing.source_questions.library_uses import spelt_out
from app.runners.evaluators.testing.source_questions.places import by_name
from app.runners.evaluators.testing.source_questions.process_parts import OF_MODULES, PartsOfProcess

_MENTIONED = re.compile(
    "|".join(
        [
            r"__cached__|__spec__|\bif_nameindex\b|\bRecursionError\b|Warning\b|['\"]\.git\b|\bhandlers\b",
            r"\b(?:iterdir|listdir|scandir|glob)\b|\b(?:LANG|LANGUAGE|TZ)\b|\bLC_|\bstdout\b|\bstderr\b",
            r"__debug__|__file__|/proc/|\bisatty\b|\bglobal\b|\bcount\(|\bcurrent_thread\b|\+= ?1\b|\+ 1\b",
            *(rf"\b{each}\b" for names in OF_MODULES.values() for each in names),
            rf"\b(?:{'|'.join(sorted(NOW | CHANCE | HASHES))})\b",
        ]
    )
)
_VARIABLES = frozenset({"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "TZ"})
_REMAINDER = "a remainder of a hash"
_TOO_DEEP = "an expression that is nested too deep to be read"
_CALLS = "how often it was called"


def circumstances(text: str) -> dict[str, list[int]]:
    """Return the circumstances on which a source makes something depend, each with the lines.

    Tests run at one time, mostly in one thread and process, and call a function a few times, with few values.
    So they pass even if it does something else otherwise.
    """
    if not _MENTIONED.search(text):
        return {}
    try:
        module = spelt_out(parse_to_change(text.encode()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    process = PartsOfProcess.of(module)
    try:
        return by_name([*process.telling, *_decided(module, process), *choices_by_hash(module)])
    except RecursionError:
        return {_TOO_DEEP: [1]}


def _decided(module: ast.Module, process: PartsOfProcess) -> Iterator[tuple[str, int]]:
    known = ClosedNames.of(module)
    counters = counters_of_calls(module)
    hashes = names_of_hashes(module)
    for each in _decisive(module):
        nodes = list(ast.walk(each))
        found = [process.named_by(node) or _used(node) for node in nodes]
        if _is_about_own_place(each):
            found.append("`__file__`")
        if _asks_for_locale(nodes):
            found.append("the locale or time zone in a variable")
        if _lists_home(nodes):
            found.append("the files in the home directory")
        if any(is_remainder_of_hash(node, hashes) for node in nodes):
            found.append(_REMAINDER)
        if counters and compares_many(each, counters):
            found.append(_CALLS)
        if known.is_closed(each):
            found.append(known.circumstance(each))
        yield from ((name, each.lineno) for name in found if name)


def _decisive(module: ast.Module) -> Iterator[ast.expr]:
    """Yield the expressions on whose truth something may depend."""
    yield from conditions(module)
    yield from (each for each in ast.walk(module) if isinstance(each, ast.Compare) or _is_denial(each))


def _is_about_own_place(node: ast.expr) -> bool:
    """Return True if a file's own path is compared with a text."""
    match node:
        case ast.Compare(left=left, comparators=[other]):
            parts = [*ast.walk(left), *ast.walk(other)]
            named = any(isinstance(each, ast.Name) and each.id == "__file__" for each in parts)
            return named and any(isinstance(each, ast.Constant) for each in (left, other))
        case _:
            return False


def _is_denial(node: ast.AST) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _asks_for_locale(nodes: Iterable[ast.AST]) -> bool:
    texts = {each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    names = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    return not texts.isdisjoint(_VARIABLES) and bool(names & {"environ", "getenv"})


def _lists_home(nodes: Iterable[ast.AST]) -> bool:
    names = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    return bool(names & {"home", "expanduser"}) and bool(names & {"iterdir", "listdir", "scandir", "glob"})


def _used(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=".git"):
            return "a git repository around it"
        case ast.Attribute(
            value=ast.Call(func=ast.Attribute(attr="getLogger"), args=[]) | ast.Attribute(attr="root"),
            attr="handlers",
        ):
            return "the handlers of the root logger"
        case (
            ast.Attribute(value=ast.Attribute(attr="stdout" | "stderr"), attr="name")
            | ast.Call(args=[ast.Attribute(attr="stdout" | "stderr"), ast.Constant(value="name"), *_])
        ):
            return "where its output goes"
        case ast.Attribute(attr="isatty" | "current_thread" | "if_nameindex" as name):
            return f"`{name}`"
        case ast.Name(id="__cached__") | ast.Attribute(value=ast.Name(id="__spec__"), attr="cached"):
            return "the file of its bytecode"
        case _:
            return ""
