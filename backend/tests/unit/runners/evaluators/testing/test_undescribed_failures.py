"""After very many failures, a run describes no more. They have the cause of nearly all others, or none."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.runners.evaluators.testing.running.report import Outcome, PytestEnding, RanTest, RunReport
from app.runners.evaluators.testing.sorting.again import lacking_in_both

pytestmark = pytest.mark.anyio

REFUSED = "ConnectionRefusedError: [Errno 111] Connection refused"
SERVICE = "a service is not reachable"


class _Lacks:
    async def for_both(self, one: str, other: str) -> str | None:
        return SERVICE if one == other == REFUSED else None


def report(messages: list[str]) -> RunReport:
    tests = {f"t{n}": RanTest(f"t{n}", Outcome.FAILED, 0.1, message) for n, message in enumerate(messages)}
    return RunReport(PytestEnding.COMPLETE, ids=tuple(tests), tests=tests)


@pytest.mark.parametrize(
    ("described", "others", "found"),
    [
        pytest.param(100, 3, 105, id="nearly all others lack it"),
        pytest.param(100, 30, 100, id="many others fail otherwise"),
        pytest.param(20, 0, 20, id="few are described"),
    ],
)
async def test_failures_that_are_not_described(described: int, others: int, found: int) -> None:
    here = report([REFUSED] * described + ["KeyError: 'a'"] * others + [""] * 5)
    base = cast("Any", SimpleNamespace(lacks=_Lacks()))
    lacking = await lacking_in_both(here.tests, here, here, base)
    assert len(lacking) == found
    assert set(lacking.values()) == {SERVICE}
