"""Detects an agent that keeps asking although no answer can be expected."""

from dataclasses import dataclass
from datetime import datetime

from app.agents.gateway_port import GatewayFailure
from app.agents.port import FailureKind

_REFUSED_SECONDS = 30.0
"""Seconds that an agent may go on after requests began to fail."""

_FINAL = (FailureKind.LIMIT, FailureKind.BUDGET, FailureKind.CONFIGURATION)
"""Kinds of failure that no further request can change."""


@dataclass(slots=True)
class Refusals:
    """Detects an agent that keeps asking although no answer can be expected.

    Some agents repeat a failed request for hours. The run can wait for a provider better than they can.
    """

    _since: float = 0.0
    _last: GatewayFailure | None = None

    def look(self, failure: GatewayFailure | None, now: float, time_of_day: datetime) -> bool:
        """Record the failure of the last request. Return True if the agent must be ended.

        Args:
            failure: why the last request failed; None after one that succeeded.
            now: in seconds of any steady clock.
            time_of_day: compared with the time of a provider's reset.
        """
        before, self._last = self._last, failure
        if failure is None:
            return False
        if before is None:
            self._since = now
        if now - self._since < _REFUSED_SECONDS:
            return False
        if failure.kind is not FailureKind.UNAVAILABLE:
            return failure.kind in _FINAL
        # A request in progress may still succeed, so only a further failure counts.
        return _is_ahead(failure.retry_at, time_of_day) or failure is not before


def _is_ahead(reset: datetime | None, time_of_day: datetime) -> bool:
    return reset is not None and reset > time_of_day
