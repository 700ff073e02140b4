"""Tells a test that waits for code that is not yet written from one that lacks something else."""

import re
from pathlib import Path

from app.runners.evaluators.testing.layout.inventory import file_of
from app.runners.evaluators.testing.running.dependencies import is_in_tree, missing_module
from app.runners.evaluators.testing.sorting.goal import Goal

_UNWRITTEN = re.compile(
    r"\b(?:NotImplementedError|ImportError|ModuleNotFoundError)\b"
    r"|AttributeError: (?:module|type object) "
    r"|TypeError: .*(?:unexpected keyword argument|positional arguments?|required keyword-only)"
)
_UNKNOWN_NAME = re.compile(r"\bNameError: name '")
_ALL_NAMES = re.compile(r"^\s*from\s+\S+\s+import\s+\*", re.MULTILINE)
_MAX_BYTES = 1_000_000


def waits_for_code(message: str, test_id: str, goal: Goal, base: Path | None) -> bool:
    """Return True if a failure at the base may be for want of code that the run should write.

    A module that the base's tree does not contain is usually a package that is not installed. Only a goal
    that speaks of it makes it the run's. A name that is unknown in a test file itself is the test's own
    mistake, unless the file imports all names of a module.

    Args:
        message: of the failure at the base.
        test_id: the test, or a file that cannot be loaded.
        goal: what the run should do.
        base: the tree of the base; None if unknown.
    """
    if _UNWRITTEN.search(message):
        module = missing_module(message)
        is_other = module is not None and base is not None and not is_in_tree(module, base)
        return not is_other or goal.speaks_of(module or "")
    return bool(_UNKNOWN_NAME.search(message)) and not is_slip_of_test(message, test_id, base)


def is_slip_of_test(message: str, test_id: str, base: Path | None) -> bool:
    """Return True if a name is unknown in a test file, and the file imports no names unseen."""
    file = file_of(test_id)
    is_there = test_id == file or message.startswith(f"{file}:")
    if base is None or not (is_there and _UNKNOWN_NAME.search(message)):
        return False
    try:
        path = base / file
        return path.stat().st_size <= _MAX_BYTES and not _ALL_NAMES.search(path.read_text("utf-8", "replace"))
    except OSError:
        return False
