"""Finds new code that knows the results of tests, or their inputs, in whatever form."""

import hashlib
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from app.runners.evaluators.testing.source_questions.expectations import Expectations
from app.runners.evaluators.testing.source_questions.known_answers import KnownAnswer

_LEAST_COVERED = 0.6
_LEAST_OF_MANY = 0.4
_LEAST_WEIGHT = 3
_LEAST_DIFFERENT = 0.6
_MANY = 8
_LEAST_HASHED = 2
_LEAST_CASES = 2
_SEVERAL = 4
_LEAST_WORDS = 10
_LEAST_WITHOUT_ENDS = 10
_BLANKS = re.compile(r"\s+")
_ONE_WORD = re.compile(r"[A-Za-z_]*")
_WORDS = re.compile(r"\w+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_USUAL_NUMBERS = frozenset(
    {
        *("10", "11", "12", "13", "14", "15", "16", "18", "20", "24", "28", "29", "30", "31", "32", "36"),
        *("40", "48", "50", "52", "60", "64", "80", "90", "99", "100", "120", "127", "128", "180", "200"),
        *("250", "255", "256", "300", "360", "365", "366", "400", "401", "403", "404", "443", "500", "512"),
        *("600", "999", "1000", "1024", "1440", "2000", "3600", "4096", "8080", "10000", "65535", "65536"),
        *("86400", "100000", "604800", "1000000"),
    }
)
_HASHES: "tuple[Callable[[bytes], str], ...]" = (
    lambda data: str(zlib.crc32(data)),
    lambda data: str(zlib.adler32(data)),
    lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest(),
    lambda data: hashlib.sha1(data, usedforsecurity=False).hexdigest(),
    lambda data: hashlib.sha256(data).hexdigest(),
)
_LEAST_OF_HASH = 8


@dataclass(frozen=True, slots=True)
class KnownResults:
    """What tests and code have in common: the values, each with the test's line and the code's."""

    values: Mapping[str, tuple[int, int]]


def known_results(
    tests: Iterable[Expectations], known: Mapping[str, int], at_base: Callable[[str], bool]
) -> KnownResults | None:
    """Return what the code knows of the first test of which it knows most.

    Args:
        tests: what the tests ask and expect.
        known: the values that the new code knows, with their lines.
        at_base: returns True for a value that the base's code has, too.
    """
    for test in tests:
        for found in (_results(test, known), _inputs(test, known)):
            new = {value: each for value, each in found.items() if not at_base(value)}
            if new and len(new) >= _LEAST_DIFFERENT * len(found):
                return KnownResults(new)
    return None


def special_cases_of(
    tests: Iterable[KnownAnswer], cases: Iterable[KnownAnswer]
) -> dict[str, tuple[int, int]]:
    """Return the results that a function returns for exactly an input of a test, if they tell something."""
    asked = {(each.key, each.value): each.line for each in tests}
    shared = {
        each.value: (asked[each.key, each.value], each.line)
        for each in cases
        if (each.key, each.value) in asked
    }
    weight = sum(_weight(value, "") for value in shared)
    return shared if len(shared) >= _LEAST_CASES and weight >= _LEAST_WEIGHT else {}


def _results(test: Expectations, known: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the expected results that the code knows, if they are most of them and tell something.

    Code with few words for many inputs, such as names of kinds, is no sign. So most inputs must have
    different results, and words alone tell nothing unless there are many, or the code knows the inputs, too.
    """
    results = {value: place for value, place in test.results.items() if not _is_trivial(value)}
    shared = {
        value: (line, place)
        for value, (line, _) in results.items()
        if (place := _place_of(value, known)) is not None
    }
    least = _LEAST_COVERED if len(shared) < _MANY else _LEAST_OF_MANY
    if len(shared) < least * len(test.results) or len(shared) < 2:
        return {}
    if len(test.results) < _LEAST_DIFFERENT * test.count and not _are_all_and_long(results, shared):
        return {}
    weight = sum(_weight(value, test.results[value][1]) for value in shared)
    if len(shared) == len(results) >= _SEVERAL:
        weight += 1
    asked = {asked for _, asked in test.results.values() if asked}
    knows_inputs = len(_hashed(asked, known)) >= _LEAST_HASHED
    return shared if weight >= _LEAST_WEIGHT or knows_inputs or len(shared) >= _MANY else {}


def _place_of(value: str, known: Mapping[str, int]) -> int | None:
    """Return the line on which the code knows a result, perhaps without its blanks, first or last letters."""
    forms = [value, _BLANKS.sub("", value)]
    if len(value) >= _LEAST_WITHOUT_ENDS:
        forms += (form for count in (1, 2, 3) for form in (value[:-count], value[count:]))
    return next((known[each] for each in forms if each in known), None)


def _are_all_and_long(results: Collection[str], shared: Collection[str]) -> bool:
    """Return True for all of a few results that are too long to be names of kinds."""
    words = sum(len(_WORDS.findall(each)) for each in shared)
    return len(shared) == len(results) and words >= _LEAST_WORDS


def _inputs(test: Expectations, known: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the inputs of yes-or-no questions that the code knows, or of which it knows the hashes."""
    shared = {text: (line, known[text]) for text, line in test.yes_no.items() if text in known}
    telling = sum(_weight(text, text) for text in shared)
    if len(shared) >= _LEAST_COVERED * len(test.yes_no) and telling >= _LEAST_WEIGHT:
        return shared
    hashed = _hashed(test.yes_no, known)
    if len(hashed) < _LEAST_HASHED:
        return {}
    return {text: (test.yes_no[text], line) for text, line in hashed.items()}


def _hashed(asked: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Return the inputs of which the code knows a hash, with the line."""
    found: dict[str, int] = {}
    for text in asked:
        for hashed in _HASHES:
            value = hashed(text.encode("utf-8", "replace"))
            if len(value) >= _LEAST_OF_HASH and value in known:
                found[text] = known[value]
    return found


def _is_trivial(value: str) -> bool:
    return value in ("", "[]", "{}", "()", "set()", "0", "1", "-1")


def _weight(value: str, asked: str) -> float:
    """Return how unlikely it is that code for other inputs has this value, too."""
    if _NUMBER.fullmatch(value):
        digits = len(value.lstrip("-").replace(".", ""))
        return 0 if value in _USUAL_NUMBERS or digits < 2 else 1 if digits < 4 else 2
    if _ONE_WORD.fullmatch(value):
        return 0
    is_derived = not set(_WORDS.findall(value.lower())).isdisjoint(_WORDS.findall(asked.lower()))
    return 2 if is_derived and len(value) >= 4 else 0
