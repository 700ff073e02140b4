"""Writes values as data for the other process, and builds values from its data."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from . import faults, mirror
from .containers import TAGS, Containers, is_container
from .link import PeerLink, refuse
from .natives import describe_function, flag_of, lent, pulled, running
from .payloads import payload_of, refresh
from .shapes import describe, shape_of
from .side import Side
from .values import (
    NAMED_TYPES,
    SCALARS,
    BadDataError,
    decode_atom,
    decode_int,
    encode_atom,
    encode_scalar,
    is_nan,
)
from .wire import WireError

_MAX_OBJECTS = 200_000


class Theirs:
    """Refers to an object of the other process by its number alone."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Codec:
    """The objects of both sides that the other one knows, and how they and plain values are written.

    Args:
        first: 0 on one side, 1 on the other.
        side: the behaviour of this side.
        link: the connection for functions and generators of the other process.
    """

    def __init__(self, first: int, side: Side, link: PeerLink) -> None:
        self._side = side
        self._link = link
        self._own: dict[int, Any] = {}
        self._own_numbers: dict[int, int] = {}
        self._theirs: dict[int, Any] = {}
        self._their_numbers: dict[int, int] = {}
        self._containers = Containers(
            first, lambda: side.note("a large container is shared with the candidate", hard=False)
        )
        self._decoders: dict[str, Callable[[Any], Any]] = {
            "I": decode_int,
            "x": lambda data: decode_atom(data[1:]),
            "t": lambda data: tuple([self.decode(each) for each in data[1]]),
            "f": lambda data: frozenset([self.decode(each) for each in data[1]]),
            "sl": lambda data: slice(*[self.decode(each) for each in data[1:]]),
            "r": lambda data: self._containers.find(data[1]),
            "o": lambda data: self._own[data[1]],
            "g": self._decode_named,
            "k": lambda data: self._theirs[data[1]],
            "K": self._decode_class,
            "e": self._decode_error,
            "h": self._decode_handle,
        }

    def is_theirs(self, value: object) -> bool:
        """Return True if an object here represents one of the other process."""
        return id(value) in self._their_numbers

    def add_changes(self, message: dict[str, Any], *, prune: bool) -> None:
        """Add the changes of shared containers to a message. `prune` drops containers without a holder."""
        message["s"] = self._containers.changes(self.encode)
        message["d"] = self._containers.prune() if prune else []

    def take_changes(self, message: dict[str, Any]) -> None:
        """Apply the changes that came with a message, once the containers in it are known."""
        self._containers.apply(message.get("s") or [], self.decode)
        self._containers.forget(message.get("d") or [])

    def encode(self, value: Any) -> Any:
        """Write a value as data."""
        kind = type(value)
        if kind in SCALARS:
            if is_nan(value):
                self._side.note("a NaN crosses, which is equal to itself only by identity", hard=False)
            return encode_scalar(value)
        if is_container(value):
            return self._containers.encode(value, self.encode)
        if kind is tuple or kind is frozenset:
            return ["t" if kind is tuple else "f", [self.encode(each) for each in value]]
        if kind is slice:
            return ["sl", *map(self.encode, (value.start, value.stop, value.step))]
        atom = encode_atom(value)
        return self._encode_object(value) if atom is None else atom

    def _encode_object(self, value: Any) -> Any:
        kind = type(value)
        if kind is Theirs:
            return ["o", value.number]
        if id(value) in self._their_numbers:
            return ["o", self._their_numbers[id(value)]]
        name = self._side.by_name(value)
        if name is not None:
            return ["g", *name]
        if issubclass(kind, type):
            return self._encode_class(value)
        if issubclass(kind, BaseException):
            return self._encode_error(value)
        return None if kind is types.TracebackType else self._encode_handle(value, kind)

    def _encode_handle(self, value: Any, kind: type) -> Any:
        if kind in (types.FrameType, types.CodeType):
            raise refuse("a frame or code object would have to cross")
        self._side.note("objects of the test are given to the other process", hard=False)
        number, _ = self._number(value)
        payload = payload_of(value)
        flag = flag_of(value)
        if kind is types.FunctionType and self._side.lends_functions:
            flag = ["function", self.encode(describe_function(value))]
        # The class is mirrored even if it would otherwise be sent by name, because it represents an object
        # there.
        return ["h", number, self._describe_class(kind), self.encode(payload), flag]

    def _encode_class(self, kind: Any) -> Any:
        if id(kind) in self._their_numbers:
            return ["o", self._their_numbers[id(kind)]]
        name = self._side.by_name(kind)
        return self._describe_class(kind) if name is None else ["g", *name]

    def _describe_class(self, kind: Any) -> Any:
        number, new = self._number(kind)
        if not new:
            return ["k", number]
        bases = [self._encode_class(each) for each in type.__dict__["__bases__"].__get__(kind)]
        return ["K", number, bases, self.encode(tuple(describe(kind).items()))]

    def _encode_error(self, error: BaseException) -> Any:
        number, new = self._number(error)
        if not new:
            return ["e", number]
        return ["e", number, self._encode_class(type(error)), *faults.encode(error, self.encode)]

    def _number(self, value: Any) -> tuple[int, bool]:
        number = self._own_numbers.get(id(value))
        if number is not None:
            return number, False
        number = len(self._own)
        if number >= _MAX_OBJECTS:
            raise WireError("too many objects have crossed")
        self._own[number] = value
        self._own_numbers[id(value)] = number
        return number, True

    def decode(self, data: Any) -> Any:
        """Build the value that data describes.

        Raises:
            BadDataError: the data describes no value.
        """
        if type(data) in SCALARS:
            return data
        try:
            return self._decode_tagged(data[0], data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise BadDataError(f"the received data is not a value: {error}") from error

    def _decode_tagged(self, tag: Any, data: Any) -> Any:
        if tag in TAGS:
            return self._containers.decode(data, self.decode)
        decoder = self._decoders.get(tag)
        if decoder is None:
            raise BadDataError("the received data is not a value")
        return decoder(data)

    def _decode_named(self, data: Any) -> Any:
        known = NAMED_TYPES.get((data[1], data[2]))
        return self._side.look_up(data[1], data[2]) if known is None else known

    def _decode_class(self, data: Any) -> type:
        bases = [self.decode(each) for each in data[2]]
        description = dict(self.decode(data[3]))
        kind = faults.known_class(description) or mirror.mirror(description, bases)
        self._keep(data[1], kind)
        return kind

    def _decode_error(self, data: Any) -> Any:
        number = data[1]
        if len(data) == 2:
            return self._theirs[number]
        error = faults.build(self.decode(data[2]), self.decode(data[3]))
        self._keep(number, error)
        faults.complete(error, data[4:], self.decode)
        return error

    def _decode_handle(self, data: Any) -> Any:
        _, number, kind_data, payload_data, flag = data
        kind = self.decode(kind_data)
        payload = self.decode(payload_data)
        known = self._theirs.get(number)
        shape = shape_of(kind)
        if shape is None:
            raise BadDataError("an object of no mirrored class")
        if known is not None:
            refresh(known, shape.native, payload)
            return known
        made = self._special(number, flag)
        if made is None:
            made = mirror.instance(kind, payload)
        self._keep(number, made)
        if flag == "bare":
            mirror.keep_bare(made)
        return made

    def _special(self, number: int, flag: Any) -> Any:
        if flag == "coroutine":
            return running(self._link, Theirs(number))
        if flag == "generator":
            return pulled(self._link, Theirs(number))
        if isinstance(flag, list) and flag[0] == "function":
            return lent(self._link, Theirs(number), self.decode(flag[1]))
        if isinstance(flag, list):
            return mirror.ProxyModule(str(flag[1]))
        return None

    def _keep(self, number: Any, value: Any) -> None:
        if type(number) is not int or number in self._theirs or len(self._theirs) >= _MAX_OBJECTS:
            raise BadDataError("no number of an object")
        self._theirs[number] = value
        self._their_numbers[id(value)] = number
