"""Classes and objects that stand for those of the other process, with the same names and operators.

A class of the other process is mirrored by a class here: same name, mirrored bases, and a forwarder for each
operator that it defines. Built-in bases (exceptions, `int`, `dict`, …) are the real ones, so that `except`,
`isinstance` and the interpreter's own comparison work. An object is an instance of its mirrored class.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import types
from typing import Any, Protocol, cast

from .payloads import PAYLOADS, make


class UncarriedError(Exception):
    """The test asks for something that cannot be carried between the processes."""


class Link(Protocol):
    """What a stand-in needs of the connection."""

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        """Have something done over there."""

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        """Compare a stand-in by the operator of that name."""

    def note(self, reason: str, *, hard: bool) -> None:
        """Say what speaks against relying on this test."""


class _Unlinked:
    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        raise UncarriedError("there is no other process")

    def compare(self, proxy: Any, name: str, other: Any) -> Any:
        return NotImplemented

    def note(self, reason: str, *, hard: bool) -> None:
        return


_link: list[Link] = [_Unlinked()]


def connect(link: Link) -> None:
    """Let the stand-ins of this process speak through a connection."""
    _link[0] = link


COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
ARITHMETIC = frozenset(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i"))
FORWARDED = frozenset(
    (
        *COMPARISONS,
        *ARITHMETIC,
        *(
            "__len__",
            "__length_hint__",
            "__iter__",
            "__next__",
            "__reversed__",
            "__contains__",
            "__getitem__",
        ),
        *("__setitem__", "__delitem__", "__missing__", "__call__", "__hash__", "__bool__", "__int__"),
        *("__float__", "__complex__", "__index__", "__round__", "__trunc__", "__floor__", "__ceil__"),
        *("__neg__", "__pos__", "__abs__", "__invert__", "__enter__", "__exit__", "__aenter__", "__aexit__"),
        *(
            "__aiter__",
            "__anext__",
            "__await__",
            "__repr__",
            "__str__",
            "__format__",
            "__bytes__",
            "__fspath__",
        ),
    )
)
_NATIVE = frozenset(
    {"__class__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__", "__getstate__", "__init__"}
)


class Shape:
    """What is known of a mirrored class.

    Attributes:
        names: attributes that the classes of the other process define themselves.
        native: the built-in type whose value an instance carries; None when it carries none.
        decides: whether the other process has its own word about `isinstance`.
    """

    __slots__ = ("decides", "names", "native", "operators")

    def __init__(self, names: frozenset[str], native: type | None, *, decides: bool) -> None:
        self.names = names
        self.native = native
        self.decides = decides
        self.operators = names & FORWARDED


_shapes: dict[type, Shape] = {}


def shape_of(kind: type) -> Shape | None:
    """Give what is known of a mirrored class; None for every other class."""
    return _shapes.get(kind)


def _is_mirror(kind: type) -> bool:
    return kind in _shapes


class MirrorMeta(type):
    """The class of mirrored classes: what is asked of the class is asked over there."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if _is_mirror(cls):
            return _link[0].request("call", cls, *args, **kwargs)
        if issubclass(cls, BaseException):
            return super().__call__(*args, **kwargs)
        raise refuse("the test derives a class from one of the candidate's")

    def __getattr__(cls, name: str) -> Any:
        if not _is_mirror(cls) and not any(each in _shapes for each in cls.__mro__):
            raise AttributeError(name)
        return _link[0].request("get", _nearest(cls), name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if not _is_mirror(cls):
            return super().__setattr__(name, value)
        _replace(cls, name, value)
        return None

    def __delattr__(cls, name: str) -> None:
        if not _is_mirror(cls):
            return super().__delattr__(name)
        _put_back(cls, name)
        return None

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        shape = _shapes.get(cls)
        if shape is None or not shape.decides:
            return False
        return _link[0].compare(cls, "isinstance", instance) is True

    def __subclasscheck__(cls, subclass: type) -> bool:
        if super().__subclasscheck__(subclass):
            return True
        shape = _shapes.get(cls)
        if shape is None or not shape.decides:
            return False
        return _link[0].compare(cls, "issubclass", subclass) is True

    def __iter__(cls) -> Any:
        return _link[0].request("apply", "iter", cls)

    def __len__(cls) -> int:
        return _link[0].request("apply", "len", cls)

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, item: Any) -> Any:
        return _link[0].request("apply", "getitem", cls, item)

    def __contains__(cls, item: Any) -> bool:
        return _link[0].request("apply", "contains", cls, item)

    def __dir__(cls) -> list[str]:
        return _link[0].request("dir", _nearest(cls))


def _nearest(cls: type) -> type:
    return next(each for each in cls.__mro__ if each in _shapes)


def refuse(reason: str) -> UncarriedError:
    """Note that the running test cannot be carried, and give the error to raise."""
    _link[0].note(reason, hard=True)
    return UncarriedError(reason)


class Proxy(metaclass=MirrorMeta):
    """Stands for an object of the other process."""

    def __getattribute__(self, name: str) -> Any:
        shape = _shapes.get(type(self))
        if shape is None or name in _NATIVE:
            return object.__getattribute__(self, name)
        if shape.native is not None and name not in shape.names:
            try:
                return object.__getattribute__(self, name)
            except AttributeError:
                pass
        return _link[0].request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(self, BaseException) and name.startswith("__"):
            return BaseException.__setattr__(self, name, value)
        _link[0].request("set", self, name, value)
        return None

    def __delattr__(self, name: str) -> None:
        _link[0].request("del", self, name)

    def __dir__(self) -> list[str]:
        return _link[0].request("dir", self)

    def __repr__(self) -> str:
        return _link[0].request("dunder", self, "__repr__")

    def __str__(self) -> str:
        return _link[0].request("dunder", self, "__str__")

    def __format__(self, spec: str) -> str:
        return _link[0].request("dunder", self, "__format__", spec)

    def __copy__(self) -> Any:
        return _link[0].request("copy", self)

    def __deepcopy__(self, memo: Any) -> Any:
        return _link[0].request("deepcopy", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise refuse("the test pickles an object of the candidate")


class ProxyModule(types.ModuleType):
    """Stands for a module of the other process; the import system's own attributes are kept here."""

    def __getattr__(self, name: str) -> Any:
        if name in ("__path__", "__wrapped__"):
            raise AttributeError(name)
        if name == "__all__":
            return _link[0].request("public", self)
        return _link[0].request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if (name.startswith("__") and name.endswith("__")) or isinstance(value, ProxyModule):
            return super().__setattr__(name, value)
        _replace(self, name, value)
        return None

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            return super().__delattr__(name)
        _put_back(self, name)
        return None

    def __dir__(self) -> list[str]:
        return _link[0].request("dir", self)


_replaced: dict[tuple[int, str], Any] = {}


def _replace(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of a module or class, and keep what it was."""
    _link[0].note("the test changes the candidate's internals", hard=False)
    if (id(owner), name) not in _replaced and hasattr(owner, name):
        _replaced[id(owner), name] = getattr(owner, name)
    _link[0].request("set", owner, name, value)


def _put_back(owner: Any, name: str) -> None:
    """Take an attribute away.

    A stand-in's `__dict__` holds none of its attributes, so they look inherited to those who patch: they put
    one back by deleting what they have set.
    """
    if (id(owner), name) in _replaced:
        _link[0].request("set", owner, name, _replaced.pop((id(owner), name)))
    else:
        _link[0].request("del", owner, name)


def mirror(description: dict[str, Any], bases: list[type]) -> type:
    """Make the class that mirrors one of the other process.

    Args:
        description: as `describe` gives it, of strings and lists of strings.
        bases: its bases as they are here.
    """
    names = frozenset(cast("list[str]", description["names"]))
    names |= frozenset().union(*(_shapes[each].names for each in bases if each in _shapes))
    namespace: dict[str, Any] = {
        "__module__": str(description["module"]),
        "__qualname__": str(description["qualname"]),
        "__doc__": description["doc"],
    }
    namespace |= {name: _forwarder(name) for name in description["operators"] if name in FORWARDED}
    namespace |= dict.fromkeys(set(description["without"]) & FORWARDED)
    roots = tuple(each for each in bases if issubclass(each, (Proxy, BaseException)) or each in PAYLOADS)
    if len(roots) < len([each for each in bases if each is not object]):
        _link[0].note(f"{namespace['__qualname__']} derives from a class of the standard library", hard=False)
    if not any(issubclass(each, Proxy) for each in roots):
        roots = (Proxy, *roots)
    try:
        made = _make(str(description["name"]), roots, namespace)
    except TypeError:
        _link[0].note("a class of the candidate cannot be mirrored", hard=False)
        made = _make(str(description["name"]), (Proxy,), namespace)
    _shapes[made] = Shape(names, _native_base(made), decides=bool(description["decides"]))
    return made


def _make(name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    return type.__new__(MirrorMeta, name, bases, dict(namespace))


def _native_base(kind: type) -> type | None:
    found = next((each for each in kind.__mro__ if each in PAYLOADS), None)
    return BaseException if issubclass(kind, BaseException) else found


def _forwarder(name: str) -> Any:
    if name in COMPARISONS or name in ARITHMETIC:
        return _comparing(name)
    if name == "__call__":
        return _called
    if name == "__await__":
        return _awaited

    def forward(self: Any, *args: Any) -> Any:
        return _link[0].request("dunder", self, name, *args)

    return forward


def _comparing(name: str) -> Any:
    def compare(self: Any, other: Any, *further: Any) -> Any:
        if further:
            return _link[0].request("dunder", self, name, other, *further)
        return _link[0].compare(self, name, other)

    return compare


def _called(self: Any, *args: Any, **kwargs: Any) -> Any:
    return _link[0].request("call", self, *args, **kwargs)


def _awaited(self: Any) -> Any:
    yield from ()
    return _link[0].request("await", self)


def describe(kind: type) -> dict[str, Any]:
    """Write down what `mirror` needs to know of a class of this process, but for its bases."""
    own = type.__dict__["__dict__"].__get__(kind)
    doc = own.get("__doc__")
    return {
        "name": type.__dict__["__name__"].__get__(kind),
        "module": str(own.get("__module__", "builtins")),
        "qualname": type.__dict__["__qualname__"].__get__(kind),
        "doc": doc if type(doc) is str else None,
        "names": [name for name in own if type(name) is str],
        "operators": [name for name in own if name in FORWARDED and own[name] is not None],
        "without": [name for name in own if name in FORWARDED and own[name] is None],
        "decides": type(kind).__instancecheck__ is not type.__instancecheck__,
    }


def instance(kind: type, payload: Any) -> Any:
    """Make an instance of a mirrored class; `payload` is what `payload_of` gave.

    Raises:
        TypeError: the payload is not of the class's built-in type.
    """
    shape = shape_of(kind)
    base = shape.native if shape else None
    if base is None:
        return object.__new__(kind)
    return BaseException.__new__(kind) if base is BaseException else make(kind, base, payload)
