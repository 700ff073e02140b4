"""Builds the policy of a new run. Pure."""

from typing import Any

from app.schemas.api.policies import PolicyOverrides
from app.schemas.runs import Budget, RunPolicy, min_of


def with_overrides(policy: RunPolicy, overrides: PolicyOverrides) -> RunPolicy:
    """Replace figures of a policy with those given; the operator's budget is a ceiling, not a default."""
    given: dict[str, Any] = overrides.model_dump(exclude_none=True, exclude={"budget"})
    if "attempts_per_phase" in given:
        given["max_attempts"] = given.pop("attempts_per_phase")
    return with_budget(policy.model_validate({**policy.model_dump(), **given}), overrides.budget)


def with_budget(policy: RunPolicy, asked: Budget | None) -> RunPolicy:
    """Lower the budget of a policy to what is asked for; no run gets more than the operator allows."""
    if asked is None:
        return policy
    ceiling = policy.budget
    budget = Budget(
        tokens=min_of(ceiling.tokens, asked.tokens), cost_usd=min_of(ceiling.cost_usd, asked.cost_usd)
    )
    return policy.model_copy(update={"budget": budget})
