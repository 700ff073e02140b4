"""Notes the classes whose own equality makes an object equal to one of another class."""

from __future__ import annotations

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
        """Return their names with their modules. A class can lie about both."""
        return sorted({f"{each.__module__}.{each.__qualname__}" for each in self._kinds.values()})
