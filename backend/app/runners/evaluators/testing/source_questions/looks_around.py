"""Finds new code that looks around: at the values of its callers, at all modules, objects or variables."""

import ast
import posixpath
import re
from collections.abc import Collection, Iterable
from unittest import TestCase

from app.core.python_source import nodes_of

_NAMES = frozenset(
    {
        *("f_locals", "co_consts", "capture_locals", "walk_stack", "linecache"),
        *("get_referrers", "get_referents", "getinnerframes", "getouterframes"),
        *("tracemalloc", "get_object_traceback", "extract_stack", "findCaller", "dump_traceback"),
        *("addaudithook", "settrace", "setprofile", "meta_path", "path_hooks", "SourceFileLoader"),
        *("SourcelessFileLoader", "ExtensionFileLoader", "spec_from_loader"),
        *("gi_frame", "cr_frame", "ag_frame", "funcName"),
    }
)
_FRAMES = re.compile(
    r"\b(?:(?:gi|cr|ag|tb)_frame|f_(?:back|code|locals|globals|lineno)|co_(?:name|consts|filename))\b"
)
"""Parts of frames. A text that names them is for a look at them by text."""

_PATH = re.compile(r"[\w.]+")
_ASSERTIONS = frozenset(each for each in dir(TestCase) if each.startswith("assert"))
_LOGS_CALLERS = re.compile(r"(?:%\(|\{)(?:funcName|lineno|pathname|module|filename)\b")
_READS_LOGS = frozenset({"StringIO", "getvalue", "emit", "MemoryHandler", "QueueHandler"})
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
            *(r"\.py[\"']", "catch_warnings", r"[\"']assert[A-Z]", _FRAMES.pattern, _LOGS_CALLERS.pattern),
        ]
    )
)


def looks_around(text: str) -> frozenset[str]:
    """Return by what a source looks around. It can find there what a test expects, or which test runs."""
    if not _MENTIONED.search(text):
        return frozenset()
    nodes = list(nodes_of(text.encode()))
    found = {each for node in nodes for each in (*_looks(node), *_files(node), *_texts(node))}
    return frozenset({*found, "what a log says of callers"} if _reads_logs(nodes) else found)


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


def _texts(node: ast.AST) -> list[str]:
    """Return what of tests or frames a text names."""
    text = _text(node) if isinstance(node, ast.Constant | ast.BinOp) else ""
    if text in _ASSERTIONS:
        return [f"the name {text}"]
    part = _FRAMES.search(text) if _PATH.fullmatch(text) and text not in _NAMES else None
    return [f"{part.group()} in a text"] if part else []


def _reads_logs(nodes: Iterable[ast.AST]) -> bool:
    """Return True for code that keeps log lines with the names or places of its callers."""
    texts, names = set[str](), set[str]()
    for each in nodes:
        match each:
            case ast.Constant(value=str() as text):
                texts.add(text)
            case (
                ast.Attribute(attr=name)
                | ast.Name(id=name)
                | ast.alias(name=name)
                | ast.FunctionDef(name=name)
            ):
                names.add(name)
            case _:
                continue
    return not names.isdisjoint(_READS_LOGS) and any(map(_LOGS_CALLERS.search, texts))


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
