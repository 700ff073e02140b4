"""Classes and objects that represent those of the other process, with the same names and operators.

A class of the other process is mirrored by a class here: same name, mirrored bases, and a forwarder for each
operator that it defines. Built-in bases (exceptions, `int`, `dict`, …) are the real ones, so that `except`,
`isinstance` and the interpreter's own comparison work. An object is an instance of its mirrored class.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import types
from typing import Any, cast

from .link import link, refuse
from .payloads import PAYLOADS, make
from .replacing import put_back, replace
from .shapes import ARITHMETIC, COMPARISONS, FORWARDED, PROBED, keep_shape, shape_of

_NATIVE = frozenset(
    {"__class__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__", "__getstate__", "__init__"}
)


def _is_mirror(kind: type) -> bool:
    return shape_of(kind) is not None


_doubtful: dict[type, str] = {}
_MUTABLE = (dict, list, set, bytearray)
"""Built-in types whose value in a mirror is a copy, which may be out of date."""


def _remind(kind: type) -> None:
    """Note in each test that uses a class why a failure with it is weak evidence."""
    for each in kind.__mro__:
        if each in _doubtful:
            link().note(_doubtful[each], hard=False)


_bare: set[int] = set()


def keep_bare(stand_in: object) -> None:
    """Remember that a permanent object of the other process has none of the `PROBED` attributes."""
    _bare.add(id(stand_in))


class MirrorMeta(type):
    """The metaclass of mirrored classes: it forwards questions about a class to the other process."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> None:
        # Mirrors do not get here. This is a test's derived class, which the other process does not know.
        super().__init__(name, bases, namespace)
        if any(map(_is_mirror, cls.__mro__)):
            _doubtful[cls] = "the test derives a class from one of the candidate's"
            _remind(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        _remind(cls)
        if _is_mirror(cls):
            return link().request("call", cls, *args, **kwargs)
        if issubclass(cls, BaseException):
            return super().__call__(*args, **kwargs)
        raise refuse("the test derives a class from one of the candidate's")

    def __getattr__(cls, name: str) -> Any:
        if not _is_mirror(cls) and not any(map(_is_mirror, cls.__mro__)):
            raise AttributeError(name)
        nearest = _nearest(cls)
        if name in PROBED and (shape := shape_of(nearest)) and shape.plain and name not in shape.names:
            raise AttributeError(name)
        return link().request("get", nearest, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if not _is_mirror(cls):
            return super().__setattr__(name, value)
        replace(cls, name, value)
        return None

    def __delattr__(cls, name: str) -> None:
        if not _is_mirror(cls):
            return super().__delattr__(name)
        put_back(cls, name)
        return None

    def __instancecheck__(cls, instance: Any) -> bool:
        _remind(cls)
        if super().__instancecheck__(instance):
            return True
        shape = shape_of(cls)
        if shape is None or not shape.decides:
            return False
        return link().compare(cls, "isinstance", instance) is True

    def __subclasscheck__(cls, subclass: type) -> bool:
        _remind(cls)
        if super().__subclasscheck__(subclass):
            return True
        shape = shape_of(cls)
        if shape is None or not shape.decides:
            return False
        return link().compare(cls, "issubclass", subclass) is True

    def __iter__(cls) -> Any:
        return link().request("apply", "iter", cls)

    def __len__(cls) -> int:
        return link().request("apply", "len", cls)

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, item: Any) -> Any:
        return link().request("apply", "getitem", cls, item)

    def __contains__(cls, item: Any) -> bool:
        return link().request("apply", "contains", cls, item)

    def __dir__(cls) -> list[str]:
        return link().request("dir", _nearest(cls))


def _nearest(cls: type) -> type:
    return next(each for each in cls.__mro__ if _is_mirror(each))


class Proxy(metaclass=MirrorMeta):
    """Represents an object of the other process."""

    def __getattribute__(self, name: str) -> Any:
        shape = shape_of(type(self))
        if shape is None or name in _NATIVE:
            return object.__getattribute__(self, name)
        if shape.native is not None and name not in shape.names:
            try:
                return object.__getattribute__(self, name)
            except AttributeError:
                pass
        if name in PROBED and id(self) in _bare:
            raise AttributeError(name)
        return link().request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(self, BaseException) and name.startswith("__"):
            return BaseException.__setattr__(self, name, value)
        link().request("set", self, name, value)
        return None

    def __delattr__(self, name: str) -> None:
        link().request("del", self, name)

    def __dir__(self) -> list[str]:
        return link().request("dir", self)

    def __repr__(self) -> str:
        return link().request("dunder", self, "__repr__")

    def __str__(self) -> str:
        return link().request("dunder", self, "__str__")

    def __format__(self, spec: str) -> str:
        return link().request("dunder", self, "__format__", spec)

    def __copy__(self) -> Any:
        return link().request("copy", self)

    def __deepcopy__(self, memo: Any) -> Any:
        return link().request("deepcopy", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise refuse("the test pickles an object of the candidate")


class ProxyModule(types.ModuleType):
    """Represents a module of the other process. The import system's own attributes are kept here."""

    def __getattr__(self, name: str) -> Any:
        if name in ("__path__", "__wrapped__"):
            raise AttributeError(name)
        if name == "__all__":
            return link().request("public", self)
        return link().request("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if (name.startswith("__") and name.endswith("__")) or isinstance(value, ProxyModule):
            return super().__setattr__(name, value)
        replace(self, name, value)
        return None

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            return super().__delattr__(name)
        put_back(self, name)
        return None

    def __dir__(self) -> list[str]:
        return link().request("dir", self)


def mirror(description: dict[str, Any], bases: list[type]) -> type:
    """Create the class that mirrors one of the other process.

    Args:
        description: the result of `describe`, of strings and lists of strings.
        bases: its bases in this process.
    """
    names = frozenset(cast("list[str]", description["names"]))
    names |= frozenset().union(*(shape.names for shape in map(shape_of, bases) if shape))
    namespace: dict[str, Any] = {
        "__module__": str(description["module"]),
        "__qualname__": str(description["qualname"]),
        "__doc__": description["doc"],
    }
    namespace |= {name: _forwarder(name) for name in description["operators"] if name in FORWARDED}
    namespace |= dict.fromkeys(set(description["without"]) & FORWARDED)
    roots = tuple(each for each in bases if issubclass(each, (Proxy, BaseException)) or each in PAYLOADS)
    narrowed = len(roots) < len([each for each in bases if each is not object])
    if not any(issubclass(each, Proxy) for each in roots):
        roots = (Proxy, *roots)
    try:
        made = _make(str(description["name"]), roots, namespace)
    except TypeError:
        link().note("a class of the candidate cannot be mirrored", hard=False)
        made = _make(str(description["name"]), (Proxy,), namespace)
    keep_shape(made, names, description)
    if narrowed:
        _doubtful[made] = f"{namespace['__qualname__']} derives from a class of the standard library"
    elif issubclass(made, _MUTABLE):
        _doubtful[made] = f"{namespace['__qualname__']} is a container that may change"
    _remind(made)
    return made


def _make(name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    return type.__new__(MirrorMeta, name, bases, dict(namespace))


def _forwarder(name: str) -> Any:
    if name in COMPARISONS or name in ARITHMETIC:
        return _comparing(name)
    if name == "__call__":
        return _called
    if name == "__await__":
        return _awaited

    def forward(self: Any, *args: Any) -> Any:
        return link().request("dunder", self, name, *args)

    return forward


def _comparing(name: str) -> Any:
    def compare(self: Any, other: Any, *further: Any) -> Any:
        if further:
            return link().request("dunder", self, name, other, *further)
        return link().compare(self, name, other)

    return compare


def _called(self: Any, *args: Any, **kwargs: Any) -> Any:
    return link().request("call", self, *args, **kwargs)


def _awaited(self: Any) -> Any:
    yield from ()
    return link().request("await", self)


def instance(kind: type, payload: Any) -> Any:
    """Create an instance of a mirrored class. `payload` is the result of `payload_of`.

    Raises:
        TypeError: the payload is not of the class's built-in type.
    """
    _remind(kind)
    shape = shape_of(kind)
    base = shape.native if shape else None
    if base is None:
        return object.__new__(kind)
    return BaseException.__new__(kind) if base is BaseException else make(kind, base, payload)
