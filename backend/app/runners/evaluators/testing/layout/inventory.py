"""Reads the ids of tests, and finds the base's tests that a candidate lost."""

from collections import defaultdict
from collections.abc import Iterable


def function_of(test_id: str) -> str:
    """Return the id of the test function: the id without its parameters."""
    file, separator, rest = test_id.partition("::")  # a directory may have brackets in its name, too
    return file + separator + rest.partition("[")[0]


def file_of(test_id: str) -> str:
    """Return the file of a test, as a POSIX path relative to the tree."""
    return test_id.partition("::")[0]


def lost_tests(at_base: Iterable[str], present: Iterable[str]) -> list[str]:
    """Return the ids of the base's tests that a candidate no longer has.

    Parameters may be renamed if a function has at least as many of them.
    """
    groups: dict[str, set[str]] = defaultdict(set)
    for each in present:
        groups[function_of(each)].add(each)
    wanted: dict[str, list[str]] = defaultdict(list)
    for each in at_base:
        wanted[function_of(each)].append(each)
    lost: list[str] = []
    for function, ids in wanted.items():
        here = groups[function]
        if not here:
            lost.append(function)
        elif len(here) < len(ids):
            lost += [each for each in ids if each not in here]
    return lost
