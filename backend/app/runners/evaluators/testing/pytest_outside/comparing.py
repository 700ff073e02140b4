"""How the judge's side compares an object of the candidate: never by the candidate's word alone.

The candidate's code decides whether such an object equals a value. So the true question is mixed with others
whose answer must be no. An object that says yes to all of them equals everything, and a test that passes in
this way is a finding. Any other yes is no evidence, and the other run judges the test. The value in an object
of a class derived from a built-in type is compared by that type itself.
"""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import random
from functools import partial
from typing import Any, Protocol

from .shapes import ARITHMETIC, shape_of
from .values import PLAIN

_RANDOM = random.SystemRandom()
_CONTRARY = {"__lt__": "__ge__", "__gt__": "__le__", "__le__": "__gt__", "__ge__": "__lt__"}
_OWN_WORD = "an object of the candidate is compared by its own operator"


class Asks(Protocol):
    """The part of the connection that comparing needs."""

    def request(self, op: str, *args: Any, **kwargs: Any) -> Any:
        """Perform an operation in the other process."""

    def note(self, reason: str, *, hard: bool) -> None:
        """Note a reason not to rely on this test."""

    def find(self, finding: str) -> None:
        """Report something that no honest code does."""


def compare(link: Asks, proxy: Any, name: str, other: Any) -> Any:
    """Perform a comparison or an arithmetic operator of a stand-in."""
    if name in ("isinstance", "issubclass"):
        return _belongs(link, proxy, name, other)
    if name in ARITHMETIC:
        result = link.request("dunder", proxy, name, other)
        if type(other) in PLAIN and type(result) in PLAIN and result is not NotImplemented:
            link.note("a number is computed by an operator of the candidate's object", hard=True)
        return result
    shape = shape_of(type(proxy))
    native = shape.native if shape else None
    if native is not None and native is not BaseException:
        by_value = getattr(native, name)(proxy, other)
        if by_value is True or (shape is not None and name not in shape.operators):
            return by_value
    if name == "__eq__":
        return _equal(link, proxy, other)
    return _ordered(link, proxy, name, other)


def _belongs(link: Asks, proxy: Any, name: str, other: Any) -> bool:
    if link.request(name, proxy, other) is not True:
        return False
    decoys = (int, type(None), list, complex) if name == "issubclass" else (_nonce(), None, [], 1j)
    if all(_try(link, name, proxy, each) is True for each in decoys):
        link.find("a class of the candidate says that everything is an instance of it")
    else:
        link.note("a class of the candidate decides itself what belongs to it", hard=True)
    return True


def _equal(link: Asks, proxy: Any, other: Any) -> Any:
    if type(proxy) is type(other) and _same_state(link, proxy, other):
        return link.request("dunder", proxy, "__eq__", other)
    answer, to_decoys = _ask(link, proxy, other)
    if type(answer) is not bool:
        return answer
    if answer and to_decoys and all(each is True for each in to_decoys):
        link.find("a value of the candidate equals whatever it is compared with")
    elif answer or type(other) in PLAIN:
        link.note(_OWN_WORD, hard=True)
    return answer


def _ask(link: Asks, proxy: Any, other: Any) -> tuple[Any, list[Any]]:
    """Ask the true question among others, in random order."""
    questions = [other, *decoys(other)]
    order = list(range(len(questions)))
    _RANDOM.shuffle(order)
    answers: list[Any] = [None] * len(questions)
    for index in order:
        ask = link.request if index == 0 else partial(_try, link)
        answers[index] = ask("dunder", proxy, "__eq__", questions[index])
    return answers[0], answers[1:]


def _try(link: Asks, *question: Any) -> Any:
    """Ask a question that the true test never asked. A failure to answer counts as an answer."""
    try:
        return link.request(*question)
    except Exception:  # noqa: BLE001 - whatever it raises
        return None


def _same_state(link: Asks, proxy: Any, other: Any) -> bool:
    """Compare the state of two objects of one class. Empty states are no reason to call them equal."""
    one, another = link.request("states", proxy, other)
    try:
        return any(one) and bool(one == another)
    except RecursionError:
        return False


def _ordered(link: Asks, proxy: Any, name: str, other: Any) -> Any:
    answer = link.request("dunder", proxy, name, other)
    if type(answer) is not bool:
        return answer
    contrary = "__eq__" if name == "__ne__" else _CONTRARY[name]
    if answer and _try(link, "dunder", proxy, contrary, other) is True:
        link.find("a value of the candidate says yes to a comparison and to its contrary")
    elif type(other) in PLAIN:
        link.note(_OWN_WORD, hard=True)
    return answer


def _nonce() -> int:
    return _RANDOM.randrange(10**8, 10**9)


def decoys(value: Any) -> list[Any]:
    """Return values of the same type that differ from this one, near and far."""
    maker = _DECOYS.get(type(value))
    return [_nonce(), str(_nonce()), None if value is not None else 0.5] if maker is None else maker(value)


def _text_decoys(value: Any) -> list[Any]:
    nonce: Any = str(_nonce()) if type(value) is str else str(_nonce()).encode()
    return [value + nonce[:1], nonce, nonce[:2] + value[1:]]


def _list_decoys(value: Any) -> list[Any]:
    kind = type(value)
    changed = [kind([decoys(value[0])[0], *value[1:]])] if value else []
    return [kind([*value, _nonce()]), kind([_nonce()]), *changed]


_DECOYS: dict[type, Any] = {
    bool: lambda v: [not v],
    int: lambda v: [v + 1, -v - 7, v + _nonce()],
    float: lambda v: [v + 1.5, -3.0 * v - 0.7, float(_nonce())],
    str: _text_decoys,
    bytes: _text_decoys,
    list: _list_decoys,
    tuple: _list_decoys,
    set: lambda v: [{*v, _nonce()}, {_nonce()}],
    frozenset: lambda v: [frozenset({*v, _nonce()}), frozenset({_nonce()})],
    dict: lambda v: [{**v, _nonce(): 0}, {_nonce(): 0}],
}
