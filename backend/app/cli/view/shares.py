"""Shares and durations in words: what has no cases has no share."""

from app.cli.view.words import duration
from app.schemas.shares import Latency, Share

NO_DATA = "no data"


def share_words(share: Share) -> str:
    """`82 %, 9 of 11 (52 % to 95 %)`; without cases there is no share."""
    if share.value is None or share.low is None or share.high is None:
        return f"{NO_DATA} (n = 0)"
    return f"{share.value:.0%}, {share.count} of {share.of} ({share.low:.0%} to {share.high:.0%})"


def latency_words(latency: Latency) -> str:
    """`p50 3.2 s, p95 4 s (n = 11)`."""
    if latency.p50_ms is None or latency.p95_ms is None:
        return f"{NO_DATA} (n = 0)"
    return f"p50 {duration(latency.p50_ms / 1000)}, p95 {duration(latency.p95_ms / 1000)} (n = {latency.n})"
