"""Compares names of distributions, and chooses the groups of requirements that a project's tests need."""

import re
from collections.abc import Callable, Iterable

OF_THE_TEST_RUNNER = frozenset({"pytest", "pluggy", "iniconfig", "packaging", "pygments"})
"""The parts of pytest itself. An environment needs the released code of these projects."""

_TESTS = frozenset({"test", "tests", "testing"})
_BENCHMARKS = frozenset({"bench", "benchmark", "benchmarks", "benchmarking"})
DEVELOPMENT = frozenset({"dev", "develop", "development"})


def normal(name: str) -> str:
    """Return the normalised form of a distribution, extra or group name, for comparisons."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names_in(requirements: Iterable[str]) -> set[str]:
    """Return the normalised names of the distributions with which requirements begin."""
    found = (re.match(r"\s*([A-Za-z0-9][\w.-]*)", each) for each in requirements)
    return {normal(each.group(1)) for each in found if each}


def choose(groups: Iterable[str], members: Callable[[str], Iterable[str]]) -> list[str]:
    """Choose the groups for tests, and those for development if the former do not include pytest.

    Groups for benchmarks count as tests if they include a pytest plug-in, because a conftest may need it.
    """
    groups = list(groups)
    chosen = [each for each in groups if normal(each) in _TESTS]
    chosen += [
        each
        for each in groups
        if normal(each) in _BENCHMARKS and any(name.startswith("pytest-") for name in names_in(members(each)))
    ]
    if not any("pytest" in names_in(members(each)) for each in chosen):
        chosen += [each for each in groups if normal(each) in DEVELOPMENT]
    return chosen


def choose_groups(groups: Iterable[str], members: Callable[[str], Iterable[str]]) -> list[str]:
    """Choose like `choose`. If that does not include pytest, add the smallest group that does.

    That is not done for extras: one such as `all` may bring packages that no test needs.
    """
    groups = list(groups)
    chosen = choose(groups, members)
    with_pytest = [each for each in groups if "pytest" in names_in(members(each))]
    if with_pytest and set(with_pytest).isdisjoint(chosen):
        chosen.append(min(with_pytest, key=lambda each: len(names_in(members(each)))))
    return chosen
