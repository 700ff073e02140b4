"""What `phaserunner usage` prints: the sum, the budgets, then each part."""

from typing import Any
from uuid import UUID

import pytest

from app.cli.commands.usage import usage_lines
from app.cli.view.tables import run_lines, usage_words
from app.cli.view.words import money, plural
from app.schemas.api.usage import BudgetLine, ModelUsage, RunUsage, UsagePart
from app.schemas.runs import ModelRole, Usage
from tests.unit.cli.fakes import PHASE, sprint_detail

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
        (
            {"input_tokens": 1, "output_tokens": 1, "requests": 1},
            "$0.5000, 1 token in, 1 out, 1 request",
        ),
        ({"unknown_costs": 1}, "$0.5000 and 1 request of unknown cost"),
        ({"cost_usd": 0.00001}, "< $0.0001, 1,200 tokens in"),
        ({"cost_usd": 0.0}, "$0.0000, 1,200 tokens in"),
    ],
    ids=["known", "unknown", "partly known", "failed", "one", "one unknown", "tiny", "nothing"],
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


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ({}, "0 tokens in 0 requests, 0 tool calls, $0.00"),
        (
            {"input_tokens": 1, "requests": 1, "tool_calls": 1, "cost_usd": 0.004},
            "1 token in 1 request, 1 tool call, < $0.01",
        ),
        ({"output_tokens": 1200, "requests": 2}, "1,200 tokens in 2 requests, 0 tool calls, cost unknown"),
    ],
    ids=["nothing", "one", "unknown cost"],
)
def test_the_usage_of_a_run(usage: dict[str, Any], words: str) -> None:
    assert usage_words(Usage(**usage)) == words


def test_a_small_budget_is_not_zero() -> None:
    budgets = [
        BudgetLine(scope="run", unit="usd", spent=0.0005, budget=0.001, setting="s"),
        BudgetLine(scope="run", unit="tokens", spent=0.0, budget=1.0, setting="s"),
    ]
    lines = usage_lines(RunUsage(total=ModelUsage(**consumed()), parts=[], budgets=budgets))
    assert lines[1:] == [
        "budget   < $0.01 of < $0.01 (50%) for this run",
        "budget   0 of 1 token (0%) for this run",
    ]
    policy = sprint_detail().policy.model_dump() | {"budget": {"tokens": 1, "cost_usd": 0.001}}
    phases = [{**PHASE, "max_attempts": 1}]
    shown = "\n".join(text for text, _ in run_lines(sprint_detail(policy=policy, phases=phases)))
    assert "(budget: < $0.01 and 1 token)" in shown
    assert "(1 of 1 attempt, score 0.50)" in shown


def test_numbers_with_their_nouns_and_amounts() -> None:
    assert [plural(each, "run") for each in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]
    assert [money(each) for each in (0, 0.0099, 0.01, 12)] == ["$0.00", "< $0.01", "$0.01", "$12.00"]
