"""Watches an installed agent at work: its time, its silence, refused requests, and repeated actions."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio.to_thread

from app.agents.external.events import AgentEnding, AgentEvent, ToolCalled, ToolReturned
from app.agents.external.refusals import Refusals
from app.agents.files import file_states
from app.agents.gateway_port import GatewayEndpoint
from app.agents.port import FailureKind
from app.agents.stuck import CallCounter, ChangeClock, StuckError, StuckLimits

_WATCH_SECONDS = 1.0
_LOOK_SECONDS = 15.0
"""Seconds between two looks at the files."""


class OverdueError(Exception):
    """The agent must be ended. The message says why."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(slots=True)
class AgentWatch:
    """Watches one agent at work.

    Attributes:
        agent: its name, for messages.
        endpoint: its access to the model.
        workspace: where it works.
        deadline: the end of its time, in seconds of `time.monotonic`.
        seconds: the time limit behind the deadline.
        idle: seconds that it may neither produce output nor ask a model.
        limits: the limits beyond which it counts as stuck.
        max_requests: limit on its requests, if no gateway enforces one.
    """

    agent: str
    endpoint: GatewayEndpoint
    workspace: Path
    deadline: float
    seconds: float
    idle: float
    limits: StuckLimits
    max_requests: int | None = None
    _pulse: float = field(default_factory=time.monotonic)
    _calls: CallCounter = field(init=False)
    _clock: ChangeClock = field(init=False)
    _looked_at: float = 0.0
    _requests_at_change: int = 0
    _refusals: Refusals = field(default_factory=Refusals)
    _stuck: str | None = None

    def __post_init__(self) -> None:
        """Start the counters."""
        self._calls = CallCounter(self.limits.same_calls)
        self._clock = ChangeClock(self.limits.unchanged_seconds, time.monotonic())

    def take(self, event: AgentEvent) -> None:
        """Record an event."""
        self._pulse = time.monotonic()
        match event:
            case ToolCalled(tool, text, exact):
                self._calls.call(tool, text, exact)
            case ToolReturned(tool, text, exact):
                self._stuck = self._calls.result(tool, exact or text) or self._stuck
            case _:
                pass

    async def until_done(self, work: asyncio.Task[AgentEnding]) -> None:
        """Wait for the end of the work.

        Raises:
            OverdueError: time is up, nothing has happened for too long, or requests are refused.
            StuckError: the agent goes round in circles.
        """
        while not work.done():
            now = time.monotonic()
            self._look_at_time(now)
            await self._look_at_circles(now)
            quiet_until = max(self._pulse, self.endpoint.last_activity) + self.idle
            await asyncio.wait([work], timeout=min(_WATCH_SECONDS, self.deadline - now, quiet_until - now))

    def _look_at_time(self, now: float) -> None:
        if self._refusals.look(self.endpoint.failure(), now, datetime.now(UTC)):
            told = f"{self.agent} goes on asking although its requests fail"
            raise OverdueError(FailureKind.PROTOCOL, told)
        if self.max_requests is not None and self.endpoint.usage().requests > self.max_requests:
            limit = f"the limit of {self.max_requests} requests (AGENT_MAX_REQUESTS)"
            told = f"{self.agent} asked more often than {limit}"
            raise OverdueError(FailureKind.LIMIT, told)
        if now >= self.deadline:
            told = f"{self.agent} worked longer than the limit of {self.seconds:g} s (AGENT_TIMEOUT)"
            raise OverdueError(FailureKind.LIMIT, told)
        if now >= max(self._pulse, self.endpoint.last_activity) + self.idle:
            told = f"{self.agent} neither said anything nor asked a model for {self.idle:g} s"
            raise OverdueError(FailureKind.PROTOCOL, told)

    async def _look_at_circles(self, now: float) -> None:
        if self._stuck is None and self.limits.unchanged_seconds is not None:
            pause = min(_LOOK_SECONDS, self.limits.unchanged_seconds)
            if now >= self._looked_at + pause:
                self._looked_at = now
                await self._look_at_files(now)
        if self._stuck is not None:
            raise StuckError(f"{self.agent} is stuck: {self._stuck}")

    async def _look_at_files(self, now: float) -> None:
        files = await anyio.to_thread.run_sync(lambda: list(file_states(self.workspace)))
        requests = self.endpoint.usage().requests
        before = self._clock.changed_at
        self._stuck = self._clock.look(files, requests - self._requests_at_change, now)
        if self._clock.changed_at != before:
            self._requests_at_change = requests
