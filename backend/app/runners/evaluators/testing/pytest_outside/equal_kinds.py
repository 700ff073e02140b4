"""Notes the classes whose own equality makes an object equal to one of another class."""

from __future__ import annotations

import importlib
from typing import Any, cast


class EqualKinds:
    """The classes of the other process that made something equal to an object of another class."""

    def __init__(self) -> None:
        self._kinds: dict[int, type[Any]] = {}

    def note(self, args: tuple[Any, ...], value: Any) -> None:
        """Note the answer to a request.

        Args:
            args: the subject, the name of the operator, and its arguments.
            value: the answer. An object may still turn out to be true.
        """
        if len(args) != 3 or args[1] not in ("__eq__", "__ne__") or value is NotImplemented:
            return
        kind = cast("type[Any]", type(args[0]))
        if kind is not type(args[2]) and value is not (args[1] == "__ne__"):
            self._kinds[id(kind)] = kind

    def names(self) -> list[str]:
        """Return the names of those that are not classes of an installed library, with their modules."""
        own = [each for each in self._kinds.values() if not _is_installed(each)]
        return sorted({f"{each.__module__}.{each.__qualname__}" for each in own})


def _is_installed(kind: type) -> bool:
    """Return True if a class of this name can be imported here, where the candidate's code is not."""
    try:
        found: Any = importlib.import_module(kind.__module__)
        for name in kind.__qualname__.split("."):
            found = getattr(found, name)
    except Exception:  # noqa: BLE001 - whatever an import raises
        return False
    return isinstance(found, type) and found is not kind and found.__module__ == kind.__module__
