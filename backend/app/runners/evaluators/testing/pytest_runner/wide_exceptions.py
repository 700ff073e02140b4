"""Finds exceptions of the code that are wider than their names: tests that expect them accept any failure."""

import builtins
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from .kinds import names_in, plain_text

_EXPECTED = re.compile(r"\b(?:raises|assertRaises\w*)\(\s*\(?((?:[A-Za-z_][\w.]*\s*,?\s*)+)")
_KINDS_AT_ONCE = 3
_EVERYTHING = (Exception, BaseException)


class _ForeignError(Exception):
    """An exception that no code knows, so only a class of all exceptions accepts it."""


def wide_exceptions(tree: Path, trusted: "set[str]", tests: "list[Any]") -> "tuple[list[str], list[str]]":
    """Return exceptions of the candidate's code that accept what they should not, and those of trusted files.

    Each comes with what it accepts.

    Args:
        tree: the tree that is run.
        trusted: paths of its files that the candidate did not write.
        tests: the test modules.
    """
    inside = [each for each in list(sys.modules.values()) if _file_of(each).startswith(f"{tree}{os.sep}")]
    own = [each for each in inside if _file_of(each) not in trusted]
    wide, everywhere = (_wide_in(each, tests) for each in (own, inside))
    return wide, [each for each in everywhere if each not in wide]


def _wide_in(modules: "list[Any]", tests: "list[Any]") -> "list[str]":
    """Return the wide exceptions that some modules define."""
    found = [name for each in tests if isinstance(each, ModuleType) for name in _in_tests(each, modules)]
    names = {names_in(each).get("__name__") for each in modules}
    found += [name for each in _subclasses(Exception) if each.__module__ in names for name in _mixed(each)]
    return list(dict.fromkeys(found))


def _file_of(module: Any) -> str:
    return plain_text(names_in(module).get("__file__"))


def _in_tests(module: ModuleType, own: "list[ModuleType]") -> "Iterator[str]":
    """Yield the names by which a test file expects any exception, if the candidate's code defines them."""
    for name in _expected_names(module):
        value = _resolved(module, name)
        last = name.rpartition(".")[2]
        # Values of tests may be arrays, which have no plain equality.
        is_plain = any(value is each and last == each.__name__ for each in _EVERYTHING)
        if not is_plain and _accepts_all(value) and any(_has(each, last, value) for each in own):
            yield f"{name} (it is every exception)"


def _expected_names(module: ModuleType) -> "list[str]":
    try:
        text = Path(str(vars(module).get("__file__"))).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return []
    return list(dict.fromkeys(re.findall(r"[A-Za-z_][\w.]*", " ".join(_EXPECTED.findall(text)))))


def _resolved(module: ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        value = names_in(value).get(part)
    return value


def _accepts_all(value: Any) -> bool:
    try:
        return value is not None and issubclass(_ForeignError, value)
    except Exception:  # noqa: BLE001 - whatever a class of the code raises
        return False


def _has(module: ModuleType, name: str, value: Any) -> bool:
    return vars(module).get(name) is value


def _subclasses(kind: "type[BaseException]") -> "Iterator[type[BaseException]]":
    waiting, seen = [kind], {kind}
    while waiting:
        below = [each for each in type.__subclasses__(waiting.pop()) if each not in seen]
        seen.update(below)
        waiting += below
        yield from below


def _mixed(kind: "type[BaseException]") -> "Iterator[str]":
    """Yield an exception that is of many kinds at once, which no other is."""
    known = vars(builtins).values()
    kinds = [each for each in type.mro(kind) if issubclass(each, Exception) and each in known]
    lowest = [each for each in kinds if not any(each in type.mro(other)[1:] for other in kinds)]
    if len(lowest) >= _KINDS_AT_ONCE:
        names = ", ".join(cast("type", each).__name__ for each in lowest)
        yield f"{kind.__module__}.{kind.__name__} (it is {names} at once)"
