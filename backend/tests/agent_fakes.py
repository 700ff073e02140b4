"""Models, agents and listeners for tests of agents; nothing here leaves the process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import FinishReason, ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from app.agents.port import (
    AgentOutcome,
    AgentProgress,
    AgentResult,
    AgentTask,
    AgentUsage,
    ProgressKind,
    ReportProgress,
)

Said = str | tuple[str, str]
"""An answer: words, or the name of a tool with its arguments in JSON."""


class SpokenModel(FunctionModel):
    """Gives the scripted answers in turn, over a stream, and ends each with `ending`; errors are raised."""

    def __init__(self, *answers: Said | Exception, ending: FinishReason | None = "stop") -> None:
        super().__init__(stream_function=self._speak)
        self._answers = answers
        self._ending: FinishReason | None = ending
        self.asked: list[list[ModelMessage]] = []

    async def _speak(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        self.asked.append(list(messages))
        past = sum(isinstance(each, ModelResponse) for each in messages)
        answer = self._answers[min(past, len(self._answers) - 1)]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            middle = len(answer) // 2
            yield answer[:middle]
            yield answer[middle:]
        else:
            yield {0: DeltaToolCall(name=answer[0], json_args=answer[1], tool_call_id=f"call-{past}")}

    @asynccontextmanager
    async def request_stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Stream as the library does; its own function model never says how an answer ended."""
        async with super().request_stream(*args, **kwargs) as stream:
            stream.finish_reason = self._ending
            yield stream


@dataclass
class Listener:
    """Keeps the progress it is told."""

    heard: list[AgentProgress] = field(default_factory=list)

    def __call__(self, progress: AgentProgress) -> None:
        """Take progress."""
        self.heard.append(progress)

    def texts(self, kind: ProgressKind) -> list[str]:
        """What was said of one kind."""
        return [each.text for each in self.heard if each.kind is kind]


@dataclass
class PlainAgent:
    """Does `work` in the workspace and gives what it returns, an outcome or a final message."""

    work: Callable[[AgentTask], AgentOutcome | str]
    name: str = "plain"
    provider: str = "test"
    model: str | None = None
    together: "asyncio.Barrier | None" = None

    async def run(self, task: AgentTask, report: ReportProgress) -> AgentOutcome:
        """Wait for the others at the barrier, if there is one, and work."""
        if self.together is not None:
            await self.together.wait()
        done = self.work(task)
        return AgentResult(done, AgentUsage(requests=1)) if isinstance(done, str) else done
