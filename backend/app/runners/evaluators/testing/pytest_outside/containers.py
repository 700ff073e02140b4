"""Keeps lists, dictionaries and sets the same on both sides for as long as both sides hold them.

A mutable container is sent as its content with a number. While the number is known, the container's own side
looks for changes before each message and sends them along, so that the other side sees changes in place. A
side that no longer holds the container says so, and the number is forgotten.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from operator import is_
from typing import Any

from .values import BadDataError

_Encode = Callable[[Any], Any]
_MAX_ELEMENTS = 50_000
_SMALL = 256
"""So many containers are looked through with each message."""

_GROWTH = 1.25
"""How much more there must be before they are looked through again. Otherwise long tests take for ever."""

# One letter for each type. A default factory and a maximum length are sent as a further part.
_LETTERS: dict[type, str] = {
    list: "L",
    dict: "D",
    set: "S",
    bytearray: "B",
    OrderedDict: "O",
    Counter: "N",
    defaultdict: "F",
    deque: "Q",
}
_TYPES: dict[str, Any] = {letter: kind for kind, letter in _LETTERS.items()}
_MAPPINGS = "DONF"
TAGS = frozenset(_TYPES)


def is_container(value: object) -> bool:
    """Return True if a value is a container that is kept the same on both sides."""
    return type(value) in _LETTERS


class _Known:
    """A container with its number. `seen` is the content that the other side has."""

    __slots__ = ("seen", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.seen: Any = None


# References to a container that only this table holds: the entry, the call's argument, a variable.
_ONLY_HERE = 3


class Containers:
    """The containers that both sides know.

    Args:
        first: 0 or 1; the two sides number theirs with even and odd numbers.
        too_large: called if a container is too large to be kept the same.
    """

    def __init__(self, first: int, too_large: Callable[[], None]) -> None:
        self._next = first
        self._known: dict[int, _Known] = {}
        self._numbers: dict[int, int] = {}
        self._too_large = too_large
        self._next_look = 0

    def encode(self, value: Any, encode: _Encode) -> Any:
        """Write a container: its number if that is known, else its content."""
        number = self._numbers.get(id(value))
        if number is not None:
            return ["r", number]
        number, self._next = self._next, self._next + 2
        self._remember(number, value)
        letter = _LETTERS[type(value)]
        data = [letter, number, _content(value, letter, encode)]
        if letter == "F":
            data.append(encode(value.default_factory))
        elif letter == "Q":
            data.append(value.maxlen)
        self._known[number].seen = self._snapshot(value)
        return data

    def decode(self, data: "list[Any]", decode: _Encode) -> Any:
        """Read a container that is not known yet."""
        letter, number, content = data[:3]
        if type(number) is not int or number in self._known or number % 2 == self._next % 2:
            raise BadDataError("no number of a container")
        value = _empty(letter, data[3:], decode)
        self._remember(number, value)
        _fill(value, letter, content, decode)
        self._known[number].seen = self._snapshot(value)
        return value

    def find(self, number: Any) -> Any:
        """Return the container with a number."""
        try:
            return self._known[number].value
        except (KeyError, TypeError) as error:
            raise BadDataError("no container has this number") from error

    def changes(self, encode: _Encode) -> "list[Any]":
        """Write the content of each container that has changed since it was last sent."""
        changed: list[Any] = []
        for number, known in list(self._known.items()):
            if self._differs(known):
                changed.append([number, _content(known.value, _LETTERS[type(known.value)], encode)])
                known.seen = self._snapshot(known.value)
        return changed

    def apply(self, changes: Any, decode: _Encode) -> None:
        """Apply the changes of the other side."""
        for number, content in changes:
            value = self.find(number)
            value.clear()
            _fill(value, _LETTERS[type(value)], content, decode)
            self._known[number].seen = self._snapshot(value)

    def prune(self) -> "list[int]":
        """Forget containers that this side no longer holds. Return their numbers, for the other side.

        Of many containers most are held for long, and are looked through only once in a while.
        """
        gone: list[int] = []
        if _SMALL < len(self._known) < self._next_look:
            return gone
        while found := [number for number, known in self._known.items() if _is_idle(known)]:
            self.forget(found)
            gone += found
        self._next_look = int(_GROWTH * len(self._known))
        return gone

    def forget(self, numbers: Any) -> None:
        """Forget containers. An unknown number is no error."""
        for number in numbers:
            known = self._known.pop(number, None)
            if known is not None:
                del self._numbers[id(known.value)]

    def _remember(self, number: int, value: Any) -> None:
        self._known[number] = _Known(value)
        self._numbers[id(value)] = number

    def _snapshot(self, value: Any) -> Any:
        if len(value) > _MAX_ELEMENTS:
            self._too_large()
            return None
        if type(value) is bytearray:
            return bytes(value)
        parts = value.values() if isinstance(value, dict) else value
        # An inner container has its own entry. Holding it here as well would keep it for ever.
        seen = [_Mark(id(each)) if is_container(each) else each for each in parts]
        keys = list(value) if isinstance(value, dict) else ()
        return _Seen(keys, seen, is_flat=not any(map(is_container, parts)))

    def _differs(self, known: _Known) -> bool:
        # Each container is compared before each message. The usual case is left to functions in C. `id` is
        # called only for inner containers, because the audit hooks of both processes hear of each call.
        seen, value = known.seen, known.value
        if seen is None:
            return False
        if type(seen) is not _Seen or len(value) > _MAX_ELEMENTS:
            return self._snapshot(value) != seen
        if len(value) != len(seen.parts):
            return True
        parts: Any = value
        if isinstance(value, dict):
            parts = value.values()
            if not all(map(is_, value, seen.keys)):
                return True
        if seen.is_flat:
            return not all(map(is_, parts, seen.parts))
        return not all(map(_is_as_seen, parts, seen.parts))


class _Seen:
    """The content of a container.

    Attributes:
        keys: of a dictionary.
        parts: its values or elements. A mark represents each inner container.
        is_flat: whether there is none.
    """

    __slots__ = ("is_flat", "keys", "parts")

    def __init__(self, keys: Any, parts: "list[Any]", *, is_flat: bool) -> None:
        self.keys = keys
        self.parts = parts
        self.is_flat = is_flat


class _Mark(int):
    """Represents a container inside another, by the address of an object that its own entry keeps alive."""


def _is_as_seen(part: Any, seen: Any) -> bool:
    return part is seen or (type(seen) is _Mark and is_container(part) and id(part) == int(seen))


def _is_idle(known: _Known) -> bool:
    value = known.value
    return sys.getrefcount(value) <= _ONLY_HERE


def _content(value: Any, letter: str, encode: _Encode) -> Any:
    if letter == "B":
        return bytes(value).decode("latin-1")
    if letter in _MAPPINGS:
        # An ordered dictionary has its own order, beside that of `dict`.
        return [[encode(key), encode(each)] for key, each in _TYPES[letter].items(value)]
    return [encode(each) for each in value]


def _empty(letter: str, further: "list[Any]", decode: _Encode) -> Any:
    if letter == "F":
        return defaultdict(decode(further[0]))
    if letter == "Q":
        return deque(maxlen=further[0])
    return _TYPES[letter]()


def _fill(value: Any, letter: str, content: Any, decode: _Encode) -> None:
    if letter == "B":
        value[:] = content.encode("latin-1")
    elif letter in _MAPPINGS:
        for key, each in content:
            _TYPES[letter].__setitem__(value, decode(key), decode(each))
    elif letter == "S":
        for each in content:
            value.add(decode(each))
    else:
        for each in content:
            value.append(decode(each))
