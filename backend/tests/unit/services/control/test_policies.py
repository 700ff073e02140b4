"""The policy of a new run: what was asked for, within the operator's budget."""

from typing import Any

import pytest

from app.schemas.api.policies import PolicyOverrides, PolicyView
from app.schemas.runs import Budget, RunPolicy
from app.services.control.policies import with_budget, with_overrides

CEILING = RunPolicy(budget=Budget(tokens=1000))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"attempts_per_phase": 5}, {"attempts_per_phase": 5}, id="attempts"),
        pytest.param({"max_attempts": 5}, {"attempts_per_phase": 5}, id="attempts by their other name"),
        pytest.param({"pass_threshold": 0.0}, {"pass_threshold": 0.0}, id="a threshold of zero"),
        pytest.param({"open_paths": ["tests/*"]}, {"open_paths": ("tests/*",)}, id="open paths"),
    ],
)
def test_what_is_given_replaces_the_default(asked: dict[str, Any], expected: dict[str, Any]) -> None:
    found = with_overrides(CEILING, PolicyOverrides.model_validate(asked))
    assert found == CEILING.model_copy(update=expected)


@pytest.mark.parametrize(
    ("asked", "tokens", "cost_usd"),
    [
        pytest.param(None, 1000, None, id="not asked"),
        pytest.param(Budget(tokens=10), 10, None, id="less"),
        pytest.param(Budget(tokens=5000), 1000, None, id="more than the operator allows"),
        pytest.param(Budget(cost_usd=2.0), 1000, 2.0, id="of another unit"),
    ],
)
def test_a_budget_is_never_above_the_operators(
    asked: Budget | None, tokens: int, cost_usd: float | None
) -> None:
    expected = Budget(tokens=tokens, cost_usd=cost_usd)
    assert with_budget(CEILING, asked).budget == expected
    assert with_overrides(CEILING, PolicyOverrides(budget=asked)).budget == expected


def test_a_view_shows_every_figure_of_a_policy() -> None:
    policy = RunPolicy(attempts_per_phase=7, open_paths=("a",), budget=Budget(tokens=1))
    shown = PolicyView.of(policy).model_dump()
    assert shown.pop("attempts_per_phase") == 7
    assert shown == policy.model_dump(exclude={"attempts_per_phase"})


def test_a_policy_is_stored_under_the_name_that_every_version_reads() -> None:
    policy = RunPolicy(attempts_per_phase=7)
    stored = policy.model_dump(mode="json")
    assert stored["max_attempts"] == 7
    assert RunPolicy.model_validate(stored) == policy
