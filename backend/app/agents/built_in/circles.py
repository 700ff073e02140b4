"""Watches whether the agent with a model goes round in circles, by the same rules as for installed agents."""

import asyncio
import time
from pathlib import Path

from pydantic_ai.messages import AgentStreamEvent, FunctionToolCallEvent, FunctionToolResultEvent

from app.agents.files import file_states
from app.agents.stuck import CallCounter, ChangeClock, StuckError, StuckLimits

_LOOK_SECONDS = 15.0
"""The files are not looked at more often."""


class Circles:
    """One piece of work.

    Args:
        agent: its name, for messages.
        limits: from when on it counts as stuck.
        workspace: whose files it is to change.
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
        """Take a tool call or its result."""
        match event:
            case FunctionToolCallEvent(part=call):
                self._calls.call(call.tool_name, call.args_as_json_str())
            case FunctionToolResultEvent(part=result):
                told = self._calls.result(result.tool_name or "", result.model_response_str())
                self._stuck = told or self._stuck
            case _:
                pass

    async def check(self, requests: int) -> None:
        """Look at the calls so far, and now and then at the files.

        Args:
            requests: that were made to models so far.

        Raises:
            StuckError: the agent goes round in circles; the message names it.
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
