"""Finds new code that looks around: at the values of its callers, at all modules, objects or variables."""

import ast
import posixpath
import re
from collections.abc import Collection

from app.core.python_source import nodes_of

_NAMES = frozenset(
    {
        *("f_locals", "co_consts", "capture_locals", "walk_stack", "linecache"),
        *("get_referrers", "get_referents", "getinnerframes", "getouterframes"),
        *("tracemalloc", "get_object_traceback", "extract_stack", "findCaller", "dump_traceback"),
        *("addaudithook", "settrace", "setprofile", "meta_path", "path_hooks", "SourceFileLoader"),
        *("SourcelessFileLoader", "ExtensionFileLoader", "spec_from_loader"),
    }
)
_CALLS = {"inspect.stack": "inspect.stack()", "inspect.trace": "inspect.trace()"}
_ALL = {"sys.modules": "all of sys.modules", "os.environ": "all of os.environ"}
_VIEWS = frozenset({"values", "items"})
_PROGRAMS = frozenset({"env", "printenv"})
_OBJECTS = "get_objects"
_SOURCES = re.compile(r"(?:[^\s'\"]*\*)?\.py")
"""The ending of Python's sources, or a pattern of such files."""
_MENTIONED = re.compile(
    "|".join(
        [
            *sorted(_NAMES),
            *map(re.escape, (*_CALLS, *_ALL)),
            *(_OBJECTS, "__subclasses__", r"[\"'](?:print)?env[\"']", r"[\"']\s*\+\s*[\"']"),
            *(r"\.py[\"']", "catch_warnings"),
        ]
    )
)


def looks_around(text: str) -> frozenset[str]:
    """Return by what a source looks around. It can find there what a test expects, or which test runs."""
    if not _MENTIONED.search(text):
        return frozenset()
    return frozenset(each for node in nodes_of(text.encode()) for each in (*_looks(node), *_files(node)))


def files_named(text: str, files: Collection[str]) -> frozenset[str]:
    """Return which of some files, without directories, the texts of a source name."""
    if not any(each in text for each in files):
        return frozenset()
    texts = [each.value for each in nodes_of(text.encode()) if isinstance(each, ast.Constant)]
    return frozenset(posixpath.basename(each) for each in texts if isinstance(each, str)).intersection(files)


def _looks(node: ast.AST) -> list[str]:
    match node:
        case ast.Attribute(attr=name) | ast.alias(name=name) | ast.keyword(arg=str() as name) if (
            name in _NAMES
        ):
            return [name]
        case ast.Constant(value=str()) | ast.BinOp() if (name := _text(node)) in _NAMES:
            return [name]
        case ast.Call(func=ast.Attribute() as called) if name := _CALLS.get(ast.unparse(called)):
            return [name]
        case ast.Call(func=ast.Attribute(value=of, attr="__subclasses__")) if _is_any_test(of):
            return ["all of __subclasses__()"]
        case ast.Call(func=ast.Attribute(value=of, attr=view)) if view in _VIEWS:
            return _all_of(of)
        case ast.For(iter=each) | ast.comprehension(iter=each) if any(map(_uses_objects, ast.walk(each))):
            return [_OBJECTS]
        case ast.List(elts=[ast.Constant(value=str() as program)]) if program in _PROGRAMS:
            return [f"the program {program}"]
        case _:
            return []


def _files(node: ast.AST) -> list[str]:
    """Return by what an expression or a function finds the sources of its callers."""
    match node:
        case ast.Constant(value=str() as text) if _SOURCES.fullmatch(text):
            return ["files that end with .py"]
        case ast.FunctionDef() | ast.AsyncFunctionDef() if _reads_file_of_warning(node):
            return ["the file of a warning"]
        case _:
            return []


def _text(node: ast.AST) -> str:
    """Return a text, also one of several parts with `+` between them; empty for anything else."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _text(left), _text(right)
            return one + other if one and other else ""
        case _:
            return ""


def _reads_file_of_warning(function: ast.AST) -> bool:
    """Return True for a function that records warnings and reads their file, which is that of a caller."""
    nodes = list(ast.walk(function))
    records = any(isinstance(each, ast.keyword) and each.arg == "record" for each in nodes)
    return records and any(isinstance(each, ast.Attribute) and each.attr == "filename" for each in nodes)


def _is_any_test(owner: ast.expr) -> bool:
    return ast.unparse(owner).rpartition(".")[2] in ("TestCase", "object")


def _all_of(owner: ast.expr) -> list[str]:
    name = _ALL.get(ast.unparse(owner))
    return [name] if name else []


def _uses_objects(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == _OBJECTS
