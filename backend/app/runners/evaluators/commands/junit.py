"""Reads JUnit XML: the tests that ran, and their outcomes."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from app.schemas.loop.safe_xml import Element, UnsafeXmlError, XmlBounds, parse_xml

_ROOTS = ("testsuites", "testsuite")
_MESSAGE_CHARS = 300
_TROUBLE = ("failure", "error")
_BOUNDS = XmlBounds(end_chars=2000)

# nextest runs each of Rust's tests in its own process, and takes exit status 0 for a pass.
_LIBTEST_START = re.compile(r"\s*running 1 test\n")
_LIBTEST_END = re.compile(r"^test result: ok\. 1 passed;", re.MULTILINE)


class ReportError(ValueError):
    """A report cannot be read, or contradicts itself. The message says how."""


class JUnitOutcome(StrEnum):
    """The outcome of a test case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case. `id` holds its suites, class and name; `message` the beginning of a failure's text."""

    id: str
    outcome: JUnitOutcome
    message: str = ""


@dataclass(frozen=True, slots=True)
class JUnit:
    """The cases of a report, in order.

    Attributes:
        cases: the test cases.
        ended: test programs with a passed sentinel; see `sentinels`.
    """

    cases: tuple[Case, ...]
    ended: frozenset[str] = frozenset()

    @property
    def failures(self) -> tuple[Case, ...]:
        """The cases that failed or had an error."""
        return tuple(each for each in self.cases if each.outcome is JUnitOutcome.FAILED)

    @property
    def passed(self) -> int:
        """Number of cases that passed."""
        return sum(each.outcome is JUnitOutcome.PASSED for each in self.cases)

    @property
    def ran(self) -> int:
        """Number of cases that passed or failed."""
        return sum(each.outcome is not JUnitOutcome.SKIPPED for each in self.cases)

    def lost_since(self, base: "JUnit") -> list[str]:
        """Return the ids of cases that ran at the base and no longer run. Equal ids are counted."""
        before, now = base._running(), self._running()
        return sorted(name for name, count in before.items() if now[name] < count)

    def cut_short_since(self, base: "JUnit") -> list[str]:
        """Return the test programs that ended before their last test, and did not at the base."""
        failed = {_program(each) for each in self.failures}
        present = {_program(each) for each in self.cases} - failed
        return [f"{each}: the end of its tests" for each in sorted((base.ended - self.ended) & present)]

    def _running(self) -> Counter[str]:
        return Counter(each.id for each in self.cases if each.outcome is not JUnitOutcome.SKIPPED)


def _program(case: Case) -> str:
    return case.id.partition(" > ")[0]


def read_junit(data: bytes, ran_in: Path) -> JUnit:
    """Read a report.

    Args:
        data: the report.
        ran_in: the tree in which it was written. Names of tests may contain its path, which differs each
            time.

    Raises:
        ReportError: it is not JUnit XML, or counts failures that none of its cases has.
    """
    try:
        root = parse_xml(data, _BOUNDS)
    except UnsafeXmlError as error:
        raise ReportError(f"the JUnit report cannot be read: {error}") from error
    if root.tag not in _ROOTS:
        raise ReportError(f"the JUnit report's root element is <{root.tag[:50]}>")
    outermost = root.attributes.get("name", "") if root.tag == "testsuite" else ""
    place = f"{ran_in.as_posix()}/"
    elements = list(_cases(root, outermost))
    claimed = max(_claimed_failures(each) for each in root.walk() if each.tag in _ROOTS)
    # A test with subtests is one case with a failure for each of them.
    listed = sum(child.tag in _TROUBLE for each, _ in elements for child in each.children)
    if claimed > listed:
        raise ReportError(f"the JUnit report claims {claimed} failures but lists {listed}")
    cases = (_case(each, name) for each, name in elements)
    return JUnit(tuple(replace(each, id=each.id.replace(place, "")) for each in cases))


def _cases(suite: Element, path: str) -> Iterator[tuple[Element, str]]:
    """Yield the test cases in a suite, each with its suites, class and name."""
    for child in suite.children:
        name = child.attributes.get("name", "")
        if child.tag == "testsuite":
            yield from _cases(child, _joined(path, name))
        elif child.tag == "testsuites":  # one of several reports that were joined
            yield from _cases(child, path)
        elif child.tag == "testcase":
            place = _joined(child.attributes.get("file", ""), child.attributes.get("classname", ""))
            yield child, _joined(_joined(path, place), name)


def _case(element: Element, name: str) -> Case:
    kinds = {child.tag: child for child in reversed(element.children)}
    trouble = kinds.get("failure") or kinds.get("error")
    if trouble is not None:
        message = trouble.attributes.get("message", "").strip() or trouble.text.strip()
        return Case(name, JUnitOutcome.FAILED, message[:_MESSAGE_CHARS])
    printed = kinds.get("system-out")
    if printed and _LIBTEST_START.match(printed.text) and not _LIBTEST_END.search(printed.text + printed.end):
        return Case(name, JUnitOutcome.FAILED, "the code ended its process before the test was over")
    return Case(name, JUnitOutcome.SKIPPED if "skipped" in kinds else JUnitOutcome.PASSED)


def _claimed_failures(suite: Element) -> int:
    return _number(suite.attributes, "failures") + _number(suite.attributes, "errors")


def _number(attributes: Mapping[str, str], name: str) -> int:
    text = attributes.get(name, "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _joined(one: str, other: str) -> str:
    return f"{one} > {other}" if one and other else one or other
