"""Results of the candidate's versions of the base's tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.runners.evaluators.testing.layout.inventory import file_of, function_of
from app.runners.evaluators.testing.running.report import RanTest


@dataclass(frozen=True, slots=True)
class Theirs:
    """Results of the candidate's versions of tests.

    Attributes:
        tests: those that ran.
        unread: the files that do not load.
        doubted: the files with tests that are asked about and not among these.
    """

    tests: Mapping[str, RanTest]
    unread: frozenset[str]
    doubted: frozenset[str] = frozenset()

    def same(self, name: str) -> list[RanTest]:
        """Return the tests with the name of a test, function or file."""
        return [
            each for each in self.tests.values() if name in (function_of(each.id), each.id, file_of(each.id))
        ]

    def of_function(self, function: str) -> list[RanTest]:
        """Return the tests of a function, whatever their parameters."""
        return [each for each in self.tests.values() if function_of(each.id) == function]

    def loads(self, file: str) -> bool:
        """Return True if a file loads, and its tests pass."""
        tests = [each for each in self.tests.values() if file_of(each.id) == file]
        return file not in self.unread and (not tests or holds(tests))


def holds(tests: Sequence[RanTest]) -> bool:
    """Return True if the tests of a file are evidence, and none of it is against the code."""
    return any(each.ok for each in tests) and not any(each.bad for each in tests)
