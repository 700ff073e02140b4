"""Reads a test file: its test functions, and the places where their expectations can be changed."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, Source
from app.runners.evaluators.testing.counter_tests.assertions import Sites
from app.runners.evaluators.testing.counter_tests.calls import Calls
from app.runners.evaluators.testing.counter_tests.child_code import (
    code_for_children,
    named_scripts,
    starts_children,
)
from app.runners.evaluators.testing.counter_tests.data_sites import data_sites
from app.runners.evaluators.testing.counter_tests.helpers import helpers_run_by, lone_helpers
from app.runners.evaluators.testing.counter_tests.literals import Plain
from app.runners.evaluators.testing.counter_tests.names import Function, Names, lone_constants
from app.runners.evaluators.testing.counter_tests.sites import Kind, Site
from app.runners.evaluators.testing.counter_tests.walk import statements

_BOM = b"\xef\xbb\xbf"
_TRANSPARENT = ("pytest.mark.", "mark.", "patch", "mock.patch", "unittest.mock.patch", "staticmethod")
_REPEATING = ("given", "hypothesis.given")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_OTHER_ERRORS = (b"BufferError", b"ReferenceError", b"ChildProcessError")


@dataclass(frozen=True, slots=True)
class TestFunction:
    """A test function in its source.

    Attributes:
        name: classes and name, joined by `::`.
        sites: where an expectation can be changed.
        rows: the number of rows of parameters; 0 if the text does not show it.
        hiding: gives it a name of the same length that is not a test's; None if its name is used elsewhere.
        data: where data files hold an expectation.
        child_code: texts with code that asserts, if the file starts processes.
        named: texts that may name a script, if the file starts processes.
        words: the names and other words in its text.
    """

    __test__ = False  # pytest would treat a class with this name as one with tests

    name: str
    sites: tuple[Site, ...]
    rows: int
    hiding: Edit | None
    data: tuple[Site, ...] = ()
    child_code: tuple[ast.Constant, ...] = ()
    named: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TestFile:
    """A test file.

    Attributes:
        name: POSIX path relative to the tree.
        source: its text.
        functions: its test functions, by name.
        bases: for each class, the names of its base classes.
        pool: the values that it expects.
        is_source: True for a source of the candidate with docstrings as tests. The base's code cannot be run
            with it.
    """

    __test__ = False

    name: str
    source: Source
    functions: Mapping[str, TestFunction]
    bases: Mapping[str, tuple[str, ...]]
    pool: tuple[Plain, ...]
    is_source: bool = False


def read_test_file(name: str, content: bytes) -> TestFile | None:
    """Read a file. Return None if it is not UTF-8 or cannot be parsed."""
    try:
        if content.startswith(_BOM):
            return None
        content.decode()
        module = parse_module(content)
        return _read(name, Source(content), module)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read(name: str, source: Source, module: ast.Module) -> TestFile:
    text = _Text(source, lone_constants(module), frozenset(_helpers(module)), lone_helpers(module))
    used = frozenset(_used_names(module))
    has_children = starts_children(source.content)
    functions: dict[str, TestFunction] = {}
    bases: dict[str, tuple[str, ...]] = {}
    for prefix, node in definitions(module.body, ""):
        if isinstance(node, ast.ClassDef):
            bases[f"{prefix}{node.name}"] = tuple(ast.unparse(each) for each in node.bases)
        elif node.name.startswith("test"):
            full = f"{prefix}{node.name}"
            functions[full] = _function(full, node, text)
            if has_children:
                code, named = code_for_children(node), named_scripts(node, module)
                functions[full] = replace(functions[full], child_code=code, named=named)
            if node.name in used:
                functions[full] = replace(functions[full], hiding=None)
    pool = {
        site.leaf.value: None
        for each in functions.values()
        for site in each.sites
        if site.leaf is not None and site.certain and not site.leaf.pattern
    }
    return TestFile(name, source, functions, bases, tuple(pool))


def definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yield the classes and functions of a module or class, each with the classes around it as a prefix."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix, node
            case ast.ClassDef():
                yield prefix, node
                yield from definitions(node.body, f"{prefix}{node.name}::")
            case ast.If():
                yield from definitions([*node.body, *node.orelse], prefix)
            case ast.Try():
                yield from definitions([*node.body, *node.orelse], prefix)
            case _:
                pass


def _used_names(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _helpers(module: ast.Module) -> Iterator[str]:
    """Yield the names of functions in a file that assert, and are not tests."""
    for _, node in definitions(module.body, ""):
        if not isinstance(node, ast.ClassDef) and not node.name.startswith("test"):
            text = ast.unparse(node)
            if "assert" in text or "raises(" in text:
                yield node.name


@dataclass(frozen=True, slots=True)
class _Text:
    """A file's text, and what its functions share.

    Attributes:
        source: the text.
        constants: names that are set once and read in one place.
        asserting: names of functions that assert, and are not tests.
        helpers: functions that only one place calls.
    """

    source: Source
    constants: Mapping[str, ast.expr]
    asserting: frozenset[str]
    helpers: Mapping[str, Function]


def _function(name: str, node: Function, text: _Text) -> TestFunction:
    names = Names(node, text.constants)
    hiding = _hiding(node, text.source)
    decorators = [ast.unparse(each) for each in node.decorator_list]
    if any(each.startswith(_REPEATING) for each in decorators):
        return TestFunction(name, (), names.rows, hiding)
    start, end = text.source.span(node)
    words = frozenset(each.decode() for each in _WORD.findall(text.source.content, start, end))
    plain = all(each.startswith(_TRANSPARENT) for each in decorators)
    found = _sites(node, text, names, sure=plain)
    data = data_sites(node, names, text.constants, plain=plain)
    return TestFunction(name, tuple(found), names.rows, hiding, data, words=words)


def _sites(node: Function, text: _Text, names: Names, *, sure: bool) -> list[Site]:
    """Return the sites of a function, and of helpers whose assertions are a part of it."""
    sites = Sites(text.source, names)
    calls = Calls(text.source, names, sites, text.asserting)
    inside: list[Site] = []
    for statement, reached in statements(node.body, sure=sure):
        _add(statement, sites, calls, text.source, sure=reached)
        for helper in helpers_run_by(statement, text.helpers):
            inside += _sites(helper, text, Names(helper, text.constants), sure=reached)
    return [*sites.found, *inside]


def _hiding(node: Function, source: Source) -> Edit:
    """Return the edit that writes `xest` for the `test` at the start of a function's name."""
    start, end = source.span(node)
    head = re.compile(rb"def\s+(test)").search(source.content, start, end)
    if head is None:
        raise ValueError(f"{node.name} is not where it should be")
    return Edit(head.start(1), head.end(1), b"xest")


def _add(statement: ast.stmt, sites: Sites, calls: Calls, source: Source, *, sure: bool) -> None:
    match statement:
        case ast.Assert():
            sites.add_condition(statement, statement.test, sure=sure)
        case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
            calls.add_statement(call, sure=sure)
        case ast.With() | ast.AsyncWith():
            for item in statement.items:
                if isinstance(item.context_expr, ast.Call):
                    calls.add_context(item.context_expr, item.context_expr, sure=sure)
        case ast.Try():
            for handler in statement.handlers:
                _add_handler(handler, sites, source)
        case _:
            pass


def _add_handler(handler: ast.ExceptHandler, sites: Sites, source: Source) -> None:
    """Add the exception that a test catches itself."""
    if isinstance(handler.type, ast.Name | ast.Attribute):
        edits = [(source.replaced(handler.type, other),) for other in _OTHER_ERRORS]
        sites.add_edits(handler.type, Kind.ERROR, edits, sure=False)
