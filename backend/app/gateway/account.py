"""Tracks what one endpoint has consumed, which limit stops it, and why its last request failed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from app.agents.gateway_port import GatewayFailure
from app.agents.port import AgentLimits, AgentUsage, FailureKind
from app.gateway.prices import Cost
from app.gateway.usage_reading import Tokens


@dataclass(slots=True)
class EndpointUsage:
    """Counts the requests of one endpoint against its limits.

    Attributes:
        limits: limits on all requests together.
        clock: returns monotonic seconds.
    """

    limits: AgentLimits
    clock: Callable[[], float]
    _started: float = 0.0
    _last_activity: float = 0.0
    _charges: list[tuple[Tokens, Cost]] = field(default_factory=list[tuple[Tokens, Cost]])
    _failure: GatewayFailure | None = None

    def __post_init__(self) -> None:
        """Start the endpoint's time."""
        self._started = self._last_activity = self.clock()

    @property
    def last_activity(self) -> float:
        """Time of the last call of `touch`, in seconds of `clock`."""
        return self._last_activity

    @property
    def failure(self) -> GatewayFailure | None:
        """Why the last request failed; None if it succeeded."""
        return self._failure

    def touch(self) -> None:
        """Record activity."""
        self._last_activity = self.clock()

    def reached(self) -> str | None:
        """Return a message about the limit that is reached, or None if another request is allowed."""
        limits, spent = self.limits, self.usage()
        cost = spent.cost_usd or 0.0
        if limits.requests is not None and spent.requests >= limits.requests:
            return f"the limit of {limits.requests} model requests is reached (AGENT_MAX_REQUESTS)"
        if limits.total_tokens is not None and spent.total_tokens >= limits.total_tokens:
            used = f"the work has used {spent.total_tokens} tokens; the limit is {limits.total_tokens}"
            return f"{used} (AGENT_MAX_TOKENS, or the rest of the run's budget)"
        if limits.cost_usd is not None and cost >= limits.cost_usd:
            cost_limit = f"the work has cost ${cost:.4f}; the limit is ${limits.cost_usd:g}"
            return f"{cost_limit} (the rest of the run's budget)"
        if self.clock() - self._started >= limits.seconds:
            return f"the time limit of {limits.seconds:g} s is reached (AGENT_TIMEOUT)"
        return None

    def begin(self) -> int:
        """Count one more request. Return its number."""
        self._charges.append((Tokens(), Cost()))
        return len(self._charges) - 1

    def charge(self, number: int, tokens: Tokens, cost: Cost) -> None:
        """Record what a request has consumed so far. This replaces its earlier figures."""
        self._charges[number] = (tokens, cost)

    def succeeded(self) -> None:
        """Clear the failure."""
        self._failure = None

    def failed(self, failure: GatewayFailure) -> None:
        """Record why a request failed."""
        self._failure = failure

    def refused(self, message: str) -> None:
        """Record why the gateway refused a request, unless an earlier failure is recorded already."""
        if self._failure is None:
            self._failure = GatewayFailure(FailureKind.CONFIGURATION, message)

    def usage(self) -> AgentUsage:
        """Return the consumption so far. The cost covers the requests with a known cost."""
        known = [cost.dollars for _, cost in self._charges if cost.dollars is not None]
        return AgentUsage(
            requests=len(self._charges),
            input_tokens=sum(tokens.input or 0 for tokens, _ in self._charges),
            output_tokens=sum(tokens.output or 0 for tokens, _ in self._charges),
            cost_usd=float(sum(known, Decimal(0))) if known else None,
        )
