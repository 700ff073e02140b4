"""What `phaserunner usage` prints: the sum, the budgets, then each part."""

from typing import Any
from uuid import UUID

import pytest

from app.cli.commands.usage import usage_lines
from app.schemas.api.usage import BudgetLine, ModelUsage, RunUsage, UsagePart
from app.schemas.runs import ModelRole

RUN = UUID(int=1)


def consumed(**changed: Any) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "requests": 3,
        "failed_requests": 0,
        "input_tokens": 1200,
        "output_tokens": 30,
        "cached_tokens": 0,
        "cost_usd": 0.5,
        "billed_usd": None,
        "computed_usd": 0.5,
        "unknown_costs": 0,
    }
    return {**figures, **changed}


def part(**changed: Any) -> UsagePart:
    place: dict[str, Any] = {
        "run_id": RUN,
        "phase": "coding",
        "attempt": 1,
        "candidate": 0,
        "role": ModelRole.AGENT,
        "provider": "openai",
        "model": "gpt-5",
        "latency_ms": 10,
    }
    return UsagePart(**{**consumed(), **place, **changed})


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({}, "$0.5000, 1,200 tokens in, 30 out, 3 requests"),
        ({"cost_usd": None, "unknown_costs": 3}, "cost unknown, 1,200 tokens in, 30 out, 3 requests"),
        ({"unknown_costs": 2}, "$0.5000 and 2 requests of unknown cost"),
        ({"failed_requests": 1}, "3 requests, 1 failed"),
    ],
    ids=["known", "unknown", "partly known", "failed"],
)
def test_an_unknown_cost_is_never_zero(figures: dict[str, Any], words: str) -> None:
    (line,) = usage_lines(RunUsage(total=ModelUsage(**consumed(**figures)), parts=[]))
    assert words in line


def test_budgets_and_parts() -> None:
    budgets = [
        BudgetLine(scope="run", unit="usd", spent=0.5, budget=2.0, setting="s"),
        BudgetLine(scope="installation_day", unit="tokens", spent=1230.0, budget=10_000.0, setting="s"),
    ]
    parts = [part(), part(candidate=1, model="", role=ModelRole.JUDGE), part(phase=None, attempt=None)]
    lines = usage_lines(RunUsage(total=ModelUsage(**consumed()), parts=parts, budgets=budgets))
    assert lines[1:3] == [
        "budget   $0.50 of $2.00 (25%) for this run",
        "budget   1,230 of 10,000 tokens (12%) for all projects, today",
    ]
    assert lines[3].startswith("coding/1 ")
    assert "agent, gpt-5: " in lines[3]
    assert lines[4].startswith("coding/1 candidate 2")
    assert "judge, as the agent reports: " in lines[4]
    assert lines[5].startswith("outside of attempts")
