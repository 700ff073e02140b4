"""When an agent is stuck between attempts."""

from datetime import UTC, datetime

import pytest

from app.runners.facts import AttemptFacts, History, Spent
from app.runners.stuck import is_stuck
from app.schemas.runs import AttemptState, RunStatus


def attempts(*outcomes: tuple[str | None, str | None]) -> History:
    """A history of failed attempts, each with its fingerprint and its tree."""
    facts = tuple(
        AttemptFacts(number, AttemptState.FAILED, fingerprint=fingerprint, tree=tree)
        for number, (fingerprint, tree) in enumerate(outcomes, start=1)
    )
    return History(RunStatus.ACTIVE, ("coding",), "coding", facts, (), Spent(), datetime.now(UTC))


def test_the_same_failure_of_the_same_tree_is_stuck() -> None:
    assert is_stuck(attempts(("f", "t"), ("f", "t")))


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(attempts(("f", "t")), id="one attempt"),
        pytest.param(attempts(("f", "t"), ("f", "u")), id="another tree"),
        pytest.param(attempts(("f", "t"), ("g", "t")), id="another failure"),
        pytest.param(attempts(("f", None), ("f", None)), id="no tree"),
        pytest.param(attempts((None, "t"), (None, "t")), id="no fingerprint"),
        pytest.param(attempts(("f", "t"), ("g", "u"), ("f", "t")), id="not in a row"),
    ],
)
def test_anything_else_is_progress(history: History) -> None:
    assert not is_stuck(history)
