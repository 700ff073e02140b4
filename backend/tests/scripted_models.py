"""The project's scripted model server for services in other processes: roles, held requests, what was asked.

    with model_server(Roles(agent=(write_file("a.py", "x = 1"), Say("Done.")))) as server:
        ...  # OPENAI_BASE_URL=f"{server.url}/v1"
        assert "the goal" in asked(server.requests[0])

A model that plays a role finds out by the fields of the answer that is asked for which role it is in.
"""

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, call_tool
from app.gateway.scripted.server import Play, ScriptedModelServer, SeenRequest
from app.schemas.response_evaluation import DIMENSIONS
from tests.patience import PATIENCE

ANSWER = "final_result"
"""The tool that takes an answer in a structure."""

_ROLES: Mapping[str, frozenset[str]] = {
    "director": frozenset({"content", "remarks"}),
    "evaluator": frozenset({"feedback", "success"}),
    "writer": frozenset({"analysis", "answer"}),
    "answer_evaluator": frozenset({"dimensions", "feedback"}),
    "judge": frozenset({"comparison", "choice"}),
    "adviser": frozenset({"criteria", "overall_assessment"}),
}


@contextmanager
def model_server(script: Sequence[Turn] | Play, port: int = 0) -> Iterator[ScriptedModelServer]:
    """Serve a model in a thread, on any free port or on this one."""
    server = ScriptedModelServer(script, port=port)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def asked(request: SeenRequest) -> str:
    """Return all texts of a request, whatever its dialect."""
    return "\n".join(_texts(request.body))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, Any]", value).values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _texts(each)


@dataclass
class Gate:
    """Holds requests until it is opened, and the whole server with them."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def pass_through(self) -> None:
        """Wait until the gate is open."""
        self.reached.set()
        assert self.opened.wait(PATIENCE)

    def wait(self) -> bool:
        """Wait a moment for a request; tell whether one is held."""
        return self.reached.wait(0.05)

    def open(self) -> None:
        """Let through what is held and what follows."""
        self.opened.set()


def role_of(request: ScriptedRequest) -> str:
    """The role in which a model is asked; `agent` if no structured answer is wanted."""
    for tool in request.tools:
        if tool.name == ANSWER:
            known = frozenset(cast("Mapping[str, Any]", tool.schema.get("properties", {})))
            return next((role for role, fields in _ROLES.items() if fields <= known), "unknown")
    return "agent"


def role_asked(request: SeenRequest) -> str:
    """The same of a request that the server has seen, in OpenAI's chat dialect."""
    tools = cast("list[dict[str, Any]]", request.body.get("tools") or [])
    for tool in tools:
        if tool["function"]["name"] == ANSWER:
            known = frozenset(tool["function"]["parameters"].get("properties", {}))
            return next((role for role, fields in _ROLES.items() if fields <= known), "unknown")
    return "agent"


def gives(**answer: Any) -> Turn:
    """An answer in a structure."""
    return call_tool(ANSWER, **answer)


def judges(*insufficient: str, issue: str = "") -> Turn:
    """A judgement of an answer; the issue is that of the dimensions that are insufficient."""
    dimensions = [
        {
            "dimension": each,
            "reasoning": f"of {each}",
            "issues": [issue] if each in insufficient else [],
            "sufficient": each not in insufficient,
        }
        for each in DIMENSIONS
    ]
    return gives(dimensions=dimensions, feedback=[])


def reviews(request: ScriptedRequest) -> Turn:
    """A review of a sprint's work that is content with each criterion."""
    (names,) = re.findall(r"by these names:\n(.+)\. Judge what", _said(request))
    criteria = [{"criterion": each, "reasoning": "read", "score": 1.0} for each in names.split(", ")]
    return gives(criteria=criteria, overall_assessment="good")


def chooses(request: ScriptedRequest) -> Turn:
    """The choice of the first candidate that is shown."""
    (numbers,) = re.findall(r"Choose one of the solutions ([\d, ]+)\.", _said(request))
    choice = int(numbers.split(", ")[0])
    return gives(comparison="both work", rationale="it is shorter", choice=choice, score=0.9)


def _said(request: ScriptedRequest) -> str:
    return "\n".join(each.text for each in request.lines)


@dataclass
class Roles:
    """A model that plays roles; each has a list of answers, and its last one is repeated.

    The agent's turns are those of one conversation, so that candidates can work side by side. Other roles
    give their answers in the order in which they are asked. Advisers and the judge of candidates are content.
    A role without answers says something that is no use.
    """

    agent: Sequence[Turn] = (Say("Done."),)
    others: Mapping[str, Sequence[Turn]] = field(default_factory=dict[str, Sequence[Turn]])
    _given: dict[str, int] = field(default_factory=dict[str, int])

    def __call__(self, request: ScriptedRequest) -> Turn:
        """Give the next turn."""
        role = role_of(request)
        if role == "agent":
            return self.agent[min(request.turns, len(self.agent) - 1)]
        if role in _CONTENT:
            return _CONTENT[role](request)
        answers = self.others.get(role, (Say("I do not know."),))
        number = self._given.get(role, 0)
        self._given[role] = number + 1
        return answers[min(number, len(answers) - 1)]


_CONTENT: Mapping[str, Play] = {"adviser": reviews, "judge": chooses}
