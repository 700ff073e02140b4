"""Which of a project's groups of requirements its tests need."""

import re
from collections.abc import Callable, Iterable

_TESTS = frozenset({"test", "tests", "testing"})
_BENCHMARKS = frozenset({"bench", "benchmark", "benchmarks", "benchmarking"})
_DEVELOPMENT = frozenset({"dev", "develop", "development"})


def normal(name: str) -> str:
    """Return the form in which names of distributions, extras and groups are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names_in(requirements: Iterable[str]) -> set[str]:
    """Return the normal names of the distributions that requirements begin with."""
    found = (re.match(r"\s*([A-Za-z0-9][\w.-]*)", each) for each in requirements)
    return {normal(each.group(1)) for each in found if each}


def choose(groups: Iterable[str], members: Callable[[str], Iterable[str]]) -> list[str]:
    """Choose groups: those of the tests; those of development too where these do not bring pytest.

    Those of benchmarks belong to the tests where they bring a plug-in of pytest: a conftest may need it.
    """
    groups = list(groups)
    chosen = [each for each in groups if normal(each) in _TESTS]
    chosen += [
        each
        for each in groups
        if normal(each) in _BENCHMARKS and any(name.startswith("pytest-") for name in names_in(members(each)))
    ]
    if not any("pytest" in names_in(members(each)) for each in chosen):
        chosen += [each for each in groups if normal(each) in _DEVELOPMENT]
    return chosen
