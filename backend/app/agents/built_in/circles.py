"""Detects a built-in agent that goes round in circles, by the same rules as for installed agents."""

import asyncio
import time
from pathlib import Path

from pydantic_ai.messages import AgentStreamEvent, FunctionToolCallEvent, FunctionToolResultEvent

from app.agents.files import file_states
from app.agents.stuck import CallCounter, ChangeClock, StuckError, StuckLimits

_LOOK_SECONDS = 15.0
"""Minimum seconds between two looks at the files."""


class Circles:
    """Watches one piece of work.

    Args:
        agent: its name, for messages.
        limits: the limits beyond which it counts as stuck.
        workspace: the directory with the files that it should change.
    """

    def __init__(self, agent: str, limits: StuckLimits, workspace: Path) -> None:
        now = time.monotonic()
        self._agent, self._limits, self._workspace = agent, limits, workspace
        self._calls = CallCounter(limits.same_calls)
        self._clock = ChangeClock(limits.unchanged_seconds, now)
        self._looked_at = now - _LOOK_SECONDS
        self._requests_at_change = 0
        self._stuck: str | None = None

    def take(self, event: AgentStreamEvent) -> None:
        """Record a tool call or its result."""
        match event:
            case FunctionToolCallEvent(part=call):
                self._calls.call(call.tool_name, call.args_as_json_str())
            case FunctionToolResultEvent(part=result):
                told = self._calls.result(result.tool_name or "", result.model_response_str())
                self._stuck = told or self._stuck
            case _:
                pass

    async def check(self, requests: int) -> None:
        """Check the calls so far, and at intervals the files.

        Args:
            requests: number of requests to models so far.

        Raises:
            StuckError: the agent goes round in circles. The message names the agent.
        """
        if self._stuck is None and self._limits.unchanged_seconds is not None:
            await self._look(self._limits.unchanged_seconds, requests)
        if self._stuck is not None:
            raise StuckError(f"{self._agent} is stuck: {self._stuck}")

    async def _look(self, limit: float, requests: int) -> None:
        now = time.monotonic()
        if now < self._looked_at + min(_LOOK_SECONDS, limit):
            return
        self._looked_at = now
        files = await asyncio.to_thread(lambda: list(file_states(self._workspace)))
        before = self._clock.changed_at
        self._stuck = self._clock.look(files, requests - self._requests_at_change, now)
        if self._clock.changed_at != before:
            self._requests_at_change = requests
