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
from typing import Any

from .values import BadDataError

_Encode = Callable[[Any], Any]
_MAX_ELEMENTS = 50_000

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
_TYPES = {letter: kind for kind, letter in _LETTERS.items()}
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
        """Forget containers that this side no longer holds. Return their numbers, for the other side."""
        gone: list[int] = []
        while True:
            found = [number for number, known in self._known.items() if _is_idle(known)]
            if not found:
                return gone
            self.forget(found)
            gone += found

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
        keys = list(value) if isinstance(value, dict) else ()
        # An inner container has its own entry. Holding it here as well would keep it for ever.
        return (keys, [_Mark(id(each)) if is_container(each) else each for each in parts])

    def _differs(self, known: _Known) -> bool:
        if known.seen is None:
            return False
        now = self._snapshot(known.value)
        if now is None or type(now) is bytes:
            return now != known.seen
        return not (_same(now[0], known.seen[0]) and _same(now[1], known.seen[1]))


class _Mark(int):
    """Represents a container inside another, by the address of an object that its own entry keeps alive."""


def _same(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(
        a is b or (type(a) is _Mark and type(b) is _Mark and int(a) == int(b))
        for a, b in zip(one, other)  # noqa: B905 - Python 3.9 runs this, too
    )


def _is_idle(known: _Known) -> bool:
    value = known.value
    return sys.getrefcount(value) <= _ONLY_HERE


def _content(value: Any, letter: str, encode: _Encode) -> Any:
    if letter == "B":
        return bytes(value).decode("latin-1")
    if letter in _MAPPINGS:
        return [[encode(key), encode(each)] for key, each in dict.items(value)]
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
            dict.__setitem__(value, decode(key), decode(each))
    elif letter == "S":
        for each in content:
            value.add(decode(each))
    else:
        for each in content:
            value.append(decode(each))
