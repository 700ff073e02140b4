"""Measured figures: shares with their uncertainty, and latencies."""

from pydantic import BaseModel, ConfigDict, Field


class Share(BaseModel):
    """A share of a number of cases. Without cases the share is null, never 0."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(ge=0, description="The cases that match.")
    of: int = Field(ge=0, description="All cases: n.")
    value: float | None = Field(description="count / of, in [0, 1]; null without cases.")
    low: float | None = Field(description="Lower end of the 95 % interval (Wilson).")
    high: float | None = Field(description="Upper end of the 95 % interval (Wilson).")


class Latency(BaseModel):
    """Durations in milliseconds; null without cases.

    A percentile is a measured duration: the smallest that this share of durations does not exceed.
    """

    model_config = ConfigDict(frozen=True)

    n: int = Field(ge=0)
    p50_ms: int | None
    p95_ms: int | None
