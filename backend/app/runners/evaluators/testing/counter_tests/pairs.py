"""Two complementary versions of the test files, and the results of the tests in both."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from app.runners.evaluators.testing.counter_tests.comparing import (
    CounterTestResult,
    Half,
    answers_by_test,
    compare,
)
from app.runners.evaluators.testing.counter_tests.drawing import Unit
from app.runners.evaluators.testing.counter_tests.versions import Version
from app.runners.evaluators.testing.report import RunReport


@dataclass(frozen=True, slots=True)
class Pair:
    """Two complementary versions of the test files, and their results."""

    versions: tuple[Version, Version]
    answers: Mapping[str, CounterTestResult]


Versions = Callable[
    [Sequence[Unit], Collection[str], Mapping[str, CounterTestResult]], tuple[Version, Version] | None
]
"""Makes two complementary versions for some tests, from earlier unnoticed changes; None if it cannot."""

NO_PAIR = Pair((Version((), {}), Version((), {})), {})


def answers_of(
    versions: tuple[Version, Version], reports: tuple[RunReport, RunReport]
) -> dict[str, CounterTestResult]:
    """Return the result of each test in two runs."""
    one, other = (Half(each.changes, said) for each, said in zip(versions, reports, strict=True))
    return answers_by_test(compare((one, other)))
