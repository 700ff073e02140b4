"""Draws inputs that no test has, from those that tests have: between them, and of their parts."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

Arguments = tuple[Any, ...]
"""The positional arguments of one call."""

_TRIES = 8
_TOKENS = re.compile(r"\d+|[^\W\d_]+|\s+|.", re.DOTALL)
_WORDS = re.compile(r"\s+|\S+")


def other_inputs(asked: Sequence[Arguments], chance: Random, most: int) -> list[Arguments]:
    """Return inputs of the same form as some others, in no certain order.

    They lie between the others, or are put together from their parts, so they are likely to be valid. Where
    that cannot be, as for the names of colours, there are none.

    Args:
        asked: the arguments of different calls, of the same kinds.
        chance: decides.
        most: limit on their number.
    """
    known = {repr(each) for each in asked}
    found: dict[str, Arguments] = {}
    for _ in range(_TRIES * most):
        if len(found) >= most:
            break
        drawn = _drawn(asked, chance)
        if drawn is not None and repr(drawn) not in known:
            found[repr(drawn)] = drawn
    return list(found.values())


def kinds_of(arguments: Arguments) -> tuple[object, ...]:
    """Return the kinds of arguments, and how many items those of a fixed length have."""
    return tuple((type(each), len(each)) if type(each) is tuple else type(each) for each in arguments)


def _drawn(calls: Sequence[Arguments], chance: Random) -> Arguments | None:
    """Draw arguments: one of another call in place of one, or a new one."""
    one = list(chance.choice(calls))
    if not one:
        return None
    place = chance.randrange(len(one))
    seen = [each[place] for each in calls]
    if len(one) > 1 and chance.random() < 0.5:
        one[place] = chance.choice(seen)
        return tuple(one)
    other = next(_others(one[place], seen, chance), None)
    if other is None:
        return None
    one[place] = other
    return tuple(one)


def _others(value: Any, seen: Sequence[Any], chance: Random) -> Iterator[Any]:
    """Yield another value of the same kind, or nothing."""
    draw = _DRAWS.get(type(value))
    same = [each for each in seen if type(each) is type(value)]
    if draw is not None and len({repr(each) for each in same}) > 1:
        yield from draw(value, same, chance)


def _whole_number(value: int, seen: Sequence[int], chance: Random) -> Iterator[int]:
    least, most = min(seen), max(seen)
    if most - least < len(set(seen)):
        return  # These may be all that there are, as the months.
    near = value + chance.choice((-2, -1, 1, 2))
    most += (most - least) // 2
    drawn = near if chance.random() < 0.5 else chance.randint(least, most)
    if least < drawn <= most:
        yield drawn


def _number(value: float, seen: Sequence[float], chance: Random) -> Iterator[float]:
    other = chance.choice(seen)
    if other != value:
        yield round(value + (other - value) * chance.uniform(0.2, 0.8), 3)


def _text(value: str, seen: Sequence[str], chance: Random) -> Iterator[str]:
    """Yield a text with another number or word in one place. A single word has no parts to exchange."""
    parts, is_part = (_WORDS, _is_visible) if " " in value else (_TOKENS, str.isalnum)
    tokens = parts.findall(value)
    places = [number for number, each in enumerate(tokens) if is_part(each)]
    if not places or (len(tokens) == 1 and not value.isdigit()):
        return
    place = chance.choice(places)
    if tokens[place].isdigit() and tokens[place].isascii():
        tokens[place] = _digits(tokens[place], chance)
    else:
        others = [each for text in seen for each in parts.findall(text) if _is_like(each, tokens[place])]
        tokens[place] = chance.choice(others)
    yield "".join(tokens)


def _is_visible(text: str) -> bool:
    return not text.isspace()


def _digits(text: str, chance: Random) -> str:
    first = "0" if text[0] == "0" and len(text) > 1 else chance.choice("123456789")
    return first + "".join(chance.choice("0123456789") for _ in text[1:])


def _is_like(one: str, other: str) -> bool:
    """Return True if both are words, both are numbers, or both are neither and visible."""
    kinds = (str.isalpha, str.isdigit, str.isspace)
    return all(is_kind(one) == is_kind(other) for is_kind in kinds)


def _items(value: Sequence[Any], seen: Sequence[Sequence[Any]], chance: Random) -> Iterator[Any]:
    """Yield some items in their order, all in another order, or those of two together.

    Where all have the same length, as the coordinates of a point, each place gets an item of that place.
    """
    items = list(value)
    way = chance.randrange(3)
    if len({len(each) for each in seen}) == 1:
        items = [chance.choice(each) for each in zip(*seen)]  # noqa: B905 - Python 3.9 runs this, too
    elif way == 0:
        items = [each for each in items if chance.random() < 0.7]
    elif way == 1:
        chance.shuffle(items)
    else:
        items += chance.choice(seen)
    yield items if type(value) is list else tuple(items)


def _table(value: dict[Any, Any], seen: Sequence[dict[Any, Any]], chance: Random) -> Iterator[dict[Any, Any]]:
    """Yield a part of a dictionary, or two of them as one.

    Where all have the same keys, as records, each key gets a value of that key.
    """
    if all(each.keys() == value.keys() for each in seen):
        yield {key: chance.choice(seen)[key] for key in value}
    elif chance.random() < 0.5:
        yield {key: each for key, each in value.items() if chance.random() < 0.7}
    else:
        yield {**value, **chance.choice(seen)}


_DRAWS: dict[type, Callable[[Any, Sequence[Any], Random], Iterator[Any]]] = {
    int: _whole_number,
    float: _number,
    str: _text,
    list: _items,
    tuple: _items,
    dict: _table,
}
