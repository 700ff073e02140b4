"""Wrong values for a literal: near misses, and values that the same file expects elsewhere."""

import ast
import cmath
import re
import string
import warnings
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from types import EllipsisType

from app.core.python_source import parse_expression

Plain = str | bytes | int | float | complex | bool | None

_CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_TRIES = 24
_LIKE_OTHERS = 0.9
_LONGEST_FROM_POOL = 200


class NoLiteralError(ValueError):
    """An expression is not a plain literal."""


def plain_value(node: ast.expr) -> Plain:
    """Return the value of a literal, including its sign.

    Raises:
        NoLiteralError: it is a container or not a literal.
    """
    match node:
        case ast.Constant(value=(str() | bytes() | int() | float() | complex() | None) as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=(int() | float() | complex()) as value)):
            return -value
        case _:
            raise NoLiteralError(ast.dump(node)[:80])


def is_plain(node: ast.expr) -> bool:
    """Return True if `plain_value` returns a value."""
    try:
        plain_value(node)
    except NoLiteralError:
        return False
    return True


def wrong_texts(
    value: Plain, text: bytes, pool: Sequence[Plain], chance: Random, *, late: bool | None = None
) -> list[bytes]:
    """Return source texts of values that differ from a literal, in random order.

    No two of them have the same value in another spelling. None differs only in ways that a lenient
    comparison may ignore: letter case, white space, the type of a number.

    Args:
        value: the literal's value.
        text: the literal's source text.
        pool: values that the file expects elsewhere.
        chance: decides.
        late: whether a text is misspelt in its last third or in its first; None leaves it to chance.
    """
    near = list(_near_misses(value, text, _alphabet([value, *pool]), chance, late))
    others = [_written(each, text) for each in pool if _may_stand_for(each, value)]
    chance.shuffle(others)
    found = [*near[:3], *others[:2]]
    chance.shuffle(found)
    return list(dict.fromkeys(found))


def _near_misses(
    value: Plain, text: bytes, alphabet: frozenset[str], chance: Random, late: bool | None
) -> Iterator[bytes]:
    match value:
        case bool():
            yield repr(not value).encode()
        case None:
            yield from (b"False", b"0")
        case str() | bytes():
            yield from _misspelt(value, text, alphabet, chance, late)
        case int():
            steps = [1, -1, chance.randrange(2, 12), -chance.randrange(2, 12)]
            yield from _numbers(value + step for step in chance.sample(steps, 3))
        case float() | complex():
            if cmath.isfinite(value):
                yield from _numbers([value * 1.5 + 1, value - 2.25 - abs(value), -3 * value - 7])


def _written(value: Plain, like: bytes) -> bytes:
    """Write a value as source text. A text gets the quotes of `like` if that is simple."""
    text = repr(value)
    simple = text[:1] == "'" and not {'"', "'", "\\"}.intersection(text[1:-1])
    return f'"{text[1:-1]}"'.encode() if simple and like[:1] == b'"' else text.encode()


def _numbers(values: Iterable[complex]) -> Iterator[bytes]:
    for each in values:
        text = repr(each).encode()
        yield text if text[:1].isdigit() else b"(" + text + b")"


def _misspelt(
    value: str | bytes, text: bytes, alphabet: frozenset[str], chance: Random, late: bool | None
) -> Iterator[bytes]:
    """Yield texts with one letter or digit changed in its place. Without any, yield longer texts."""
    places = [i for i, byte in enumerate(text) if chr(byte).isalnum() and byte < 128]
    drawn = chance.sample(places, min(_TRIES, len(places)))
    if late is not None:
        third = max(1, len(places) // 3)
        preferred = set(places[-third:] if late else places[:third])
        drawn.sort(key=lambda each: each not in preferred)
    found = 0
    for place in drawn:
        other = text[:place] + _another(text[place], alphabet, chance) + text[place + 1 :]
        if _is_one_off(value, read_plain(other)):
            yield other
            found += 1
    if not found:
        added = chance.choice(string.ascii_lowercase) + chance.choice(string.digits)
        at = len(value) // 2
        inserted: str | bytes = (
            value[:at] + added + value[at:]
            if isinstance(value, str)
            else value[:at] + added.encode() + value[at:]
        )
        yield repr(inserted).encode()


def _another(byte: int, alphabet: frozenset[str], chance: Random) -> bytes:
    """Draw another character of the same kind, preferably one that occurs in the expected texts."""
    kind = next((each for each in _CLASSES if chr(byte) in each), string.ascii_lowercase)
    others = [each for each in kind if each != chr(byte)]
    used = [each for each in others if each in alphabet]
    return chance.choice(used if used and chance.random() < _LIKE_OTHERS else others).encode()


def _alphabet(values: Iterable[Plain]) -> frozenset[str]:
    texts = (each.decode("latin-1") if isinstance(each, bytes) else each for each in values)
    return frozenset(letter for text in texts if isinstance(text, str) for letter in text)


def _is_one_off(value: str | bytes, other: object) -> bool:
    if isinstance(other, str | bytes) and type(other) is type(value) and len(other) == len(value):
        return sum(one != two for one, two in zip(value, other, strict=True)) == 1
    return False


def read_plain(text: bytes) -> Plain | EllipsisType:
    """Return the value of a source text, or `...` if it is not a plain literal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain_value(parse_expression(b"(" + text + b")").body)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return ...


def matches(pattern: str, text: str) -> bool | None:
    """Return True if a regular expression matches in a text. Return None if it is not one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.search(pattern, text) is not None
        except (re.error, RecursionError, OverflowError):
            return None


def _may_stand_for(other: Plain, value: Plain) -> bool:
    """Return True if a value from elsewhere is certainly another one, and of the same kind."""
    if type(other) is not type(value) or value is None or isinstance(value, bool):
        return False
    if isinstance(other, str | bytes) and isinstance(value, str | bytes):
        return len(other) <= _LONGEST_FROM_POOL and _folded(other) != _folded(value)
    return other != value and other == other


def _folded(value: str | bytes) -> str:
    text = value if isinstance(value, str) else value.decode("latin-1")
    return "".join(each for each in text.casefold() if each.isalnum()) or text.strip()
