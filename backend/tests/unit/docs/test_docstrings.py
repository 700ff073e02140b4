"""Docstrings name parameters and exceptions that there are."""

import ast
import builtins
import importlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[3]
PLACES = ("app", "phaserunner")
_IMPORT = re.compile(r"^\s*from (\.*)([\w.]*) import (\([^)]*\)|[^\n(]*)", re.MULTILINE)
_CLASS = re.compile(r"^class (\w+)(?:\(([^)]*)\))?:", re.MULTILINE)

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> dict[str, str]:
    """The text of each module, by its dotted name."""
    return {
        ".".join(path.relative_to(BACKEND).with_suffix("").parts): path.read_text("utf-8")
        for place in PLACES
        for path in sorted((BACKEND / place).rglob("*.py"))
    }


SOURCES = sources()
CLASSES = {module: dict(_CLASS.findall(text)) for module, text in SOURCES.items()}
BASES = {name: bases for found in CLASSES.values() for name, bases in found.items()}


@cache
def is_exception(name: str) -> bool:
    """Whether a class of ours, or one that Python has built in, is an exception."""
    if name in BASES:
        return any(is_exception(each.rpartition(".")[2]) for each in re.findall(r"[\w.]+", BASES[name]))
    return is_class_of_exceptions(getattr(builtins, name, None)) or name.endswith(("Error", "Exception"))


def is_class_of_exceptions(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


@cache
def imported(module: str) -> set[str]:
    """The modules of ours that a module imports itself."""
    found: set[str] = set()
    for dots, name, members in _IMPORT.findall(SOURCES[module]):
        above = module.split(".")[: -len(dots)] if dots else []
        base = ".".join([*above, *name.split(".")] if name else above)
        found |= {base, f"{base}.__init__", *(f"{base}.{each}" for each in re.findall(r"\w+", members))}
    return found & SOURCES.keys()


@cache
def classes_near(module: str) -> frozenset[str]:
    """The classes of a module, and of all that it imports, however many modules are between."""
    seen, left = {module}, [module]
    while left:
        fresh = imported(left.pop()) - seen
        seen |= fresh
        left += fresh
    return frozenset(name for each in seen for name in CLASSES[each])


def entries(docstring: str, section: str) -> list[str]:
    """The names before the colons in a section."""
    block = re.search(rf"^{section}:\n((?:    .*\n?)+)", docstring, re.MULTILINE)
    heads = re.findall(r"^    (\S[^:]*)", block[1], re.MULTILINE) if block else []
    return [name.split(" (")[0].lstrip("*") for head in heads for name in re.split(", | or | and ", head)]


@cache
def documented(module: str) -> list[tuple[Documented, bool]]:
    """All of a module that may have a docstring, and whether it is within a protocol."""
    found: list[tuple[Documented, bool]] = [(ast.parse(SOURCES[module]), False)]
    for node, is_within in found:
        here = is_within or (isinstance(node, ast.ClassDef) and is_protocol(node))
        found += [(each, here) for each in node.body if isinstance(each, Documented)]
    return found


def is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).startswith("Protocol") for base in node.bases)


def parameters(node: Documented) -> set[str]:
    """The parameters of a function, or of what creates an object of a class."""
    if isinstance(node, ast.ClassDef):
        inits = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        return parameters(inits[0]) if inits else set()
    if isinstance(node, ast.Module):
        return set()
    return {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}


def is_known(name: str, module: str, *, in_protocol: bool) -> bool:
    """Whether a name is an exception that the module can know; what implements a protocol raises its own."""
    if name in BASES:
        return is_exception(name) and (in_protocol or name in classes_near(module))
    if is_class_of_exceptions(getattr(builtins, name, None)):
        return True
    place, _, member = name.rpartition(".")
    if not place:
        found = re.search(rf"^from ([\w.]+) import .*\b{re.escape(name)}\b", SOURCES[module], re.MULTILINE)
        place = found[1] if found else ""
    try:
        return bool(place) and is_class_of_exceptions(getattr(importlib.import_module(place), member, None))
    except ImportError:
        return False


def faults(section: str) -> Mapping[str, list[str]]:
    """The wrong entries of a section, by module."""
    found: dict[str, list[str]] = {}
    for module in (name for name, text in SOURCES.items() if f"{section}:\n" in text):
        for node, in_protocol in documented(module):
            for name in entries(ast.get_docstring(node) or "", section):
                is_right = (
                    name in parameters(node)
                    if section == "Args"
                    else is_known(name, module, in_protocol=in_protocol)
                )
                if not is_right:
                    found.setdefault(module, []).append(f"{getattr(node, 'name', '')}: {name}")
    return found


@pytest.mark.parametrize("section", ["Args", "Raises"])
def test_every_entry_names_something_that_there_is(section: str) -> None:
    assert faults(section) == {}


@pytest.mark.parametrize(
    ("name", "in_protocol", "expected"),
    [
        pytest.param("SubscriberGoneError", False, True, id="in the module"),
        pytest.param("ValueError", False, True, id="of Python"),
        pytest.param("asyncpg.PostgresError", False, True, id="of a library"),
        pytest.param("ClientGoneError", False, False, id="in a module that is far away"),
        pytest.param("ClientGoneError", True, True, id="of what implements a protocol"),
        pytest.param("EventSubscription", False, False, id="no exception"),
        pytest.param("UnheardOfError", True, False, id="nowhere"),
        pytest.param("the end. A sentence", True, False, id="no name"),
    ],
)
def test_which_exceptions_a_module_can_name(name: str, *, in_protocol: bool, expected: bool) -> None:
    assert is_known(name, "app.realtime.subscription", in_protocol=in_protocol) is expected
