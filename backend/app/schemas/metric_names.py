"""The names of numbers by which runs can be listed."""

from enum import StrEnum
from typing import Literal

MetricPart = Literal["counted", "considered"]


class MetricName(StrEnum):
    """A number by which runs can be listed: those it counts, or all it looks at."""

    PASS_AT_1 = "pass_at_1"  # noqa: S105 - no password
    PASS_AT_2 = "pass_at_2"  # noqa: S105
    PASS_AT_3 = "pass_at_3"  # noqa: S105
    RETRIED = "retried"
    ESCALATED = "escalated"
    DECIDED = "decided"
    COST_KNOWN = "cost_known"
    VERDICT_PASSED = "verdict_passed"
    VERDICT_FAILED = "verdict_failed"
    VERDICT_ERRORED = "verdict_errored"
    VERDICT_SKIPPED = "verdict_skipped"
    FALSE_PASSES = "false_passes"
    FALSE_FAILS = "false_fails"
