"""A model provider for tests: Anthropic's and OpenAI's protocols on loopback, scripted answers and faults.

    with ModelServer(Conversation((say("Done."),), contains=("Requirements",))) as server:
        keys = server.keys()
        ...
        server.add(Fail(429))  # faults of `llmock.scenarios`, used up by the next requests

What the model says in a conversation depends only on what a request holds, so conversations can run side by
side, and a client that starts anew gets the same answers.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from llmock.journal import RequestRecord
from llmock.scenarios import Behavior, Fail, Plan, Reply, RequestInfo, ScenarioQueue, ToolCall
from llmock.testing import LLMockServer

from app.agents.models.providers import ProviderKeys

ANTHROPIC = "anthropic:claude-sonnet-5-5"
OPENAI = "openai:gpt-5.6-sol"
OPENAI_CHAT = "openai-chat:some-local-model"
KEY = "sk-test-0123456789"

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]

_turn: ContextVar[Reply | Fail | None] = ContextVar("turn", default=None)


@dataclass(frozen=True)
class Turn:
    """One answer of the model: text, tool calls, or both."""

    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None


def say(text: str, finish_reason: str | None = None) -> Turn:
    """An answer in words."""
    return Turn(text, finish_reason=finish_reason)


def call(name: str, text: str | None = None, **arguments: Any) -> Turn:
    """An answer that calls one tool."""
    return Turn(text, (ToolCall(name, arguments),))


@dataclass(frozen=True)
class Conversation:
    """The model's answers, one after the other, to a prompt that contains and lacks certain strings."""

    turns: tuple[Turn, ...]
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def fits(self, prompt: str) -> bool:
        """Whether this is what the model says to `prompt`."""
        return all(text in prompt for text in self.contains) and not any(
            text in prompt for text in self.lacks
        )


@dataclass
class ModelServer:
    """A server on a free port of the loopback interface, ended by leaving the block.

    The first conversation that fits a request's prompt answers it; a request that fits none is refused with
    status 400 and says so. Without conversations llmock answers by itself.
    """

    conversations: Sequence[Conversation] = ()
    _server: LLMockServer = field(default_factory=LLMockServer)

    def __init__(self, *conversations: Conversation) -> None:
        self.conversations = conversations
        self._server = LLMockServer()
        self._server.state.scenarios = _Scenarios()
        self._server.app.add_middleware(_Conversing, server=self)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.stop()

    def converse(self, *conversations: Conversation) -> None:
        """Forget what was asked and queued, and answer with these conversations from now on."""
        self._server.state.reset()
        self.conversations = conversations

    def add(self, *behaviors: Behavior) -> None:
        """Queue faults, delays and replies; each is used up by the next request that it matches."""
        self._server.state.scenarios.add(*behaviors)

    @property
    def requests(self) -> list[RequestRecord]:
        """Every request so far, in order; `body` is what the client sent."""
        return self._server.state.journal.records(wait=2.0)

    def base_url(self, provider: str) -> str:
        """The address for `anthropic` or `openai` clients."""
        return self._server.base_url(provider)

    def keys(self) -> ProviderKeys:
        """Keys with which the models of both providers ask this server."""
        return ProviderKeys(KEY, KEY, self.base_url("anthropic"), self.base_url("openai"))

    def answer(self, body: dict[str, Any]) -> Reply | Fail | None:
        """What the model says to a request."""
        if not self.conversations:
            return None
        prompt, past_turns = _read(body)
        for conversation in self.conversations:
            if conversation.fits(prompt):
                turn = conversation.turns[min(past_turns, len(conversation.turns) - 1)]
                return Reply(turn.text, turn.calls, turn.finish_reason)
        return Fail(400, message="the test has no conversation that fits this prompt")


def two_attempts(
    *, bad: tuple[Turn, ...], good: tuple[Turn, ...], feedback: str, task: str = ""
) -> tuple[Conversation, Conversation]:
    """A model that first gets it wrong, and right once the prompt holds `feedback`.

    Args:
        task: a string that only prompts of this task hold, such as a line of its phase.
    """
    contains = (task,) if task else ()
    return (
        Conversation(good, contains=(*contains, feedback)),
        Conversation(bad, contains=contains, lacks=(feedback,)),
    )


class _Scenarios(ScenarioQueue):
    def plan_for(self, info: RequestInfo) -> Plan:
        plan, turn = super().plan_for(info), _turn.get()
        if plan.fail is None and isinstance(turn, Fail):
            return replace(plan, fail=turn)
        if plan.reply is None and isinstance(turn, Reply):
            return replace(plan, reply=turn)
        return plan


@dataclass
class _Conversing:
    app: _App
    server: ModelServer

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        chunks, more = b"", True
        while more:
            message = await receive()
            chunks += message.get("body", b"")
            more = message.get("more_body", False)
        _turn.set(self.server.answer(json.loads(chunks)))
        whole: list[_Message] = [{"type": "http.request", "body": chunks, "more_body": False}]

        async def again() -> _Message:
            return whole.pop() if whole else await receive()

        await self.app(scope, again, send)


def _read(body: dict[str, Any]) -> tuple[str, int]:
    """The first thing the user said, and how many answers the model has given since."""
    items: list[dict[str, Any]] = body.get("messages") or body.get("input") or []
    prompt, turns, answering = "", 0, False
    for item in items:
        is_answer = item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning")
        turns += is_answer and not answering
        answering = is_answer
        if not prompt and item.get("role") == "user":
            prompt = _text(item["content"])
    return prompt, turns


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
