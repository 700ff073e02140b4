"""What a module and its classes held at one moment, compared with what they hold now.

Most modules of the standard library stay as they are. A look at each of their names would take a large part
of the time of a small run.
"""

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter, is_
from types import FunctionType, MethodType, ModuleType
from typing import Any

from .kinds import is_kind, names_in

HOOKS = frozenset(
    {
        *("sys.excepthook", "sys.displayhook", "sys.breakpointhook", "sys.unraisablehook"),
        *("threading.excepthook", "warnings.showwarning", "warnings.formatwarning"),
        *("sys.stdin", "sys.stdout", "sys.stderr"),
    }
)
"""Names that the standard library's documentation invites programs to replace."""

_WRAPPERS: "tuple[Any, ...]" = (staticmethod, classmethod, MethodType, partial, property)

_code_of = attrgetter("__code__")


class ModuleState:
    """The names of a module and of its classes, with their values and the code of functions.

    Args:
        name: the name under which it is known.
        module: the module.
    """

    def __init__(self, name: str, module: ModuleType) -> None:
        self._name = name
        self._module = module
        self._names = names_in(module)
        classes = [each for each in self._names.values() if is_kind(each, type)]
        self._members = {id(each): (each, names_in(each)) for each in classes}
        self._held = [*self._names.values()]
        for _, members in self._members.values():
            self._held += members.values()
        # Objects may get another class, wrappers another function, and functions other code.
        self._types = [*map(type, self._held)]
        self._wrappers = _of_kind(self._held, _WRAPPERS)
        self._wrapped = [*map(innermost, self._wrappers)]
        functions = [*_of_kind(self._held, (FunctionType,)), *_of_kind(self._wrapped, (FunctionType,))]
        self._functions: list[FunctionType] = functions
        self._codes = [*map(_code_of, functions)]

    def is_kept_by(self, module: ModuleType) -> bool:
        """Return True if this is still the module, and each name, object and function is as it was."""
        return (
            module is self._module
            and _holds(module, self._names)
            and all(_holds(each, members) for each, members in self._members.values())
            and all(map(is_, map(type, self._held), self._types))
            and all(map(is_, map(innermost, self._wrappers), self._wrapped))
            and all(map(is_, map(_code_of, self._functions), self._codes))
        )

    def parts(self) -> "dict[str, Any]":
        """Return what `parts_of` gave at that time."""
        return dict(_parts(self._name, self._names, lambda each: self._members[id(each)][1]))


def parts_of(name: str, module: ModuleType) -> "Iterator[tuple[str, Any]]":
    """Yield the parts of a module and the methods of its classes, by full name."""
    return _parts(name, names_in(module), names_in)


def innermost(value: Any) -> Any:
    """Return the function in a property, a partial function or another wrapper; other values as they are."""
    while not is_kind(value, FunctionType) and is_kind(value, _WRAPPERS):
        if is_kind(value, property):
            value = value.fget
        else:
            value = value.func if is_kind(value, partial) else value.__func__
    return value


def _parts(
    name: str, names: "dict[str, Any]", members_of: "Callable[[Any], dict[str, Any]]"
) -> "Iterator[tuple[str, Any]]":
    for key, value in names.items():
        full = f"{name}.{key}"
        if key.startswith("__") or full in HOOKS:
            continue
        if key.startswith("_") and not is_kind(value, (FunctionType, type)):
            continue
        yield full, value
        members = members_of(value) if is_kind(value, type) else {}
        if members.get("__module__") == name:
            yield from ((f"{full}.{method}", each) for method, each in members.items())


def _of_kind(values: "list[Any]", kinds: "tuple[Any, ...]") -> "list[Any]":
    """Return the values of some classes and their subclasses. Thousands of values have few classes."""
    found = {each for each in set(map(type, values)) if issubclass(each, kinds)}
    return [each for each in values if type(each) in found]


def _holds(owner: Any, names: "dict[str, Any]") -> bool:
    """Return True if a module or class has the same values under the same names, in the same order."""
    now = names_in(owner)
    return [*now] == [*names] and all(map(is_, now.values(), names.values()))
