"""Tells a test that waits for code that is not yet written from one that lacks something else."""

import ast
import re
from collections.abc import Iterator, Sequence

from app.core.python_source import parse_module
from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.pytest_runner.failures import BECAUSE
from app.runners.evaluators.testing.running.base_code import BaseCode
from app.runners.evaluators.testing.running.dependencies import missing_module, missing_submodule
from app.runners.evaluators.testing.sorting.goal import Goal

_LOCATION = re.compile(r"^([^\s:]+):\d+: ")
_NOT_IMPLEMENTED = re.compile(r"\bNotImplementedError\b")
_NO_NAME = re.compile(r"\bcannot import name '\w+' from (?:partially initialized module )?'([\w.]+)'")
_NO_MODULE_ATTRIBUTE = re.compile(
    r"\bAttributeError: (?:partially initialized )?module '([\w.]+)' has no attribute "
)
_NO_CLASS_ATTRIBUTE = re.compile(r"\bAttributeError: type object '(\w+)' has no attribute ")
_OTHER_ARGUMENTS = re.compile(
    r"\bTypeError: ([\w.<>]+)\(\) "
    r"(?:got an unexpected keyword argument|takes .*positional argument|missing .*required )"
)
_UNKNOWN_ARGUMENT = re.compile(r"\bTypeError: ([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_UNKNOWN_NAME = re.compile(r"\bNameError: name '(\w*)")
_ALL_NAMES = re.compile(r"^[ \t]*from\s+\S+\s+import\s+\*", re.MULTILINE)


def waits_for_code(message: str, test_id: str, goal: Goal, code: BaseCode) -> bool:
    """Return True if a failure at the base may be for want of code that the run should write.

    That is so if the project's own module, class or function lacks what the test uses, or says itself that it
    is not implemented. A module that the base does not contain is usually a package that is not installed.
    Only a goal that speaks of it makes it the run's. What is missing in the tests themselves is not for the
    run to write: a name or a module of their helpers, an argument of what the test file defines, or a name
    that is unknown in a test file, unless the file imports all names of a module.

    Args:
        message: of the failure at the base.
        test_id: the test, or a file that cannot be loaded.
        goal: what the run should do.
        code: the base's code.
    """
    message, _, cause = message.partition(BECAUSE)
    if _is_unnamed(missing_submodule(cause), code):
        return True
    if (module := missing_module(message)) is not None:
        return _is_unwritten(module, missing_submodule(message), goal, code)
    if found := _NO_NAME.search(message) or _NO_MODULE_ATTRIBUTE.search(message):
        return code.has_module(found.group(1)) and not code.is_of_tests(found.group(1))
    if found := _NO_CLASS_ATTRIBUTE.search(message) or _OTHER_ARGUMENTS.search(message):
        names = _names_in(found.group(1))
        is_own = all(map(code.defines, names)) and not _are_of_test(names, code.text(file_of(test_id)))
        return is_own and not _is_taken(message, code)
    if _NOT_IMPLEMENTED.search(message):
        place = _LOCATION.search(message)
        return place is None or place.group(1) in code.sources
    if not (found := _UNKNOWN_NAME.search(message)) or is_slip_of_test(message, test_id, code):
        return False
    place = _LOCATION.search(message)
    return place is None or not _comes_from_an_option(found.group(1), code.text(place.group(1)), code)


def _is_unnamed(submodule: str | None, code: BaseCode) -> bool:
    """Return True if a process of a test misses a module of the project that only the test knows.

    A module that the code itself names and that is not there is one that a build writes.
    """
    return submodule is not None and code.has_module(submodule) and not code.mentions(submodule)


def _is_unwritten(module: str, submodule: str | None, goal: Goal, code: BaseCode) -> bool:
    """Return True if a run may have to write a module that is reported as missing."""
    package = (submodule or "").rpartition(".")[0]
    if package and code.is_of_tests(package):
        return False
    if submodule is None and code.has_module(module):
        # It is there. A process that a test started does not find it.
        return False
    return code.has_module(module) or goal.speaks_of(module)


def _is_taken(message: str, code: BaseCode) -> bool:
    """Return True if an argument is unknown only to a class of the same name that other people wrote."""
    unknown = _UNKNOWN_ARGUMENT.search(message)
    return unknown is not None and code.takes(unknown.group(1).rpartition(".")[2], unknown.group(2))


def _are_of_test(names: Sequence[str], text: str) -> bool:
    """Return True if a test file itself defines a class or function, and the methods named with it."""
    if not names:
        return False
    places = [rf"^(?:async\s+)?(?:def|class)\s+{names[0]}\b"]
    places += [rf"^\s+(?:async\s+)?(?:def|class)\s+{each}\b" for each in names[1:]]
    return all(re.search(each, text, re.MULTILINE) for each in places)


def _comes_from_an_option(name: str, text: str, code: BaseCode) -> bool:
    """Return True if a source file tries to import a name from a package that need not be installed."""
    try:
        module = parse_module(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    tried = [each for node in ast.walk(module) if isinstance(node, ast.Try) for each in node.body]
    return name in {bound for each in tried for bound in _foreign_names(each, code)}


def _foreign_names(statement: ast.stmt, code: BaseCode) -> Iterator[str]:
    """Yield the names that an import binds to parts of packages that are not in the tree."""
    match statement:
        case ast.Import(names=names):
            origins = {alias: alias.name for alias in names}
        case ast.ImportFrom(module=str(module), level=0, names=names):
            origins = dict.fromkeys(names, module)
        case _:
            origins = {}
    for alias, origin in origins.items():
        if not code.has_module(origin):
            yield alias.asname or alias.name.partition(".")[0]


def is_slip_of_test(message: str, test_id: str, code: BaseCode) -> bool:
    """Return True if a name is unknown in a test file or a document, which imports no names unseen."""
    file = file_of(test_id)
    is_there = test_id == file or not file.endswith(".py") or message.startswith(f"{file}:")
    if not (is_there and _UNKNOWN_NAME.search(message)):
        return False
    text = code.text(file)
    return bool(text) and not _ALL_NAMES.search(text)


def _names_in(qualified: str) -> list[str]:
    """Return the parts of a qualified name that a source file would define."""
    parts = qualified.split(".")
    return [each for each in parts if each.isidentifier() and not each.startswith("__")]
