"""Finds the tests of the base that no longer run. Rows of a function may be renamed. Pure."""

import re
from collections import Counter

from app.runners.evaluators.commands.junit import JUnit, JUnitOutcome

_ROW = re.compile(r"(^| > )\[\d+\] .*$", re.DOTALL)
"""A row of a parametrised test as Gradle names it: `[1] 100, 10`."""

_SUBTEST = re.compile(r"( > (?:Test|Fuzz|Example)\w*)/.*$", re.DOTALL)
"""A subtest of Go: `TestPrice/of_nine`."""

_PARAMETERS = re.compile(r"\[[^\[\]]*\]")
_VALUE = re.compile(
    r"\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d[\d:.-]*(?:T[\d:.+-]+Z?)?)",
    re.IGNORECASE,
)
"""An address, a UUID, a date or a number."""


def lost_tests(now: JUnit, base: JUnit) -> list[str]:
    """Return the ids of tests that ran at the base and no longer run. Equal ids are counted.

    Parameters differ from run to run if they hold an address, a date or a random value. So an id may be
    missing if the same function has a new one in its place.
    """
    missing = now.lost_since(base)
    if not missing:
        return []
    before, after = _ran(base), _ran(now)
    gone, new = _functions(before - after), _functions(after - before)
    fewer = gone - new
    return [each for each in missing if fewer[_function_of(each)]]


def _ran(report: JUnit) -> Counter[str]:
    return Counter(each.id for each in report.cases if each.outcome is not JUnitOutcome.SKIPPED)


def _functions(tests: Counter[str]) -> Counter[str]:
    found = Counter[str]()
    for name, count in tests.items():
        found[_function_of(name)] += count
    return found


def _function_of(test_id: str) -> str:
    """Return a test's id without its parameters, and without values in its name."""
    name = _SUBTEST.sub(r"\1/", _ROW.sub(r"\1[]", test_id))
    while (shorter := _PARAMETERS.sub("", name)) != name:
        name = shorter
    return _VALUE.sub("0", name)
