"""Converts the consumption of a model's calls."""

from pydantic_ai.usage import RunUsage

from app.agents.port import AgentUsage


def agent_usage(spent: RunUsage) -> AgentUsage:
    """Return the consumption of a run in the port's type."""
    return AgentUsage(
        requests=spent.requests,
        tool_calls=spent.tool_calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=float(spent.cost) if spent.cost is not None else None,
    )
