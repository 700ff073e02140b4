"""Reads requests to the scripted model in any dialect: which tools are offered, how many turns there were."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from app.agents.gateway_port import Dialect
from app.gateway.scripted_script import OfferedTool

_GEMINI = re.compile(r".*/models/(?P<model>.+):(?P<method>generateContent|streamGenerateContent)")
_ENDINGS: Mapping[str, Dialect] = {
    "/chat/completions": Dialect.OPENAI_CHAT,
    "/responses": Dialect.OPENAI_RESPONSES,
    "/messages": Dialect.ANTHROPIC,
}
_ANSWERS = frozenset({"function_call", "local_shell_call", "custom_tool_call", "reasoning"})


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What the scripted model must know of a request.

    Attributes:
        dialect: in which it came.
        model: the name that was asked for.
        streams: whether the answer streams.
        wants_usage: whether a chat stream ends with its usage.
        as_events: whether a stream is one of events; else it is Gemini's list.
        turns: how often the model has spoken in the conversation.
        tools: what it may call.
    """

    dialect: Dialect
    model: str
    streams: bool
    wants_usage: bool
    as_events: bool
    turns: int
    tools: tuple[OfferedTool, ...]


def read_request(path: str, query: str, body: Mapping[str, Any]) -> ScriptedRequest | None:
    """Read a request for an answer; None for any other path, whatever stands before the known part."""
    gemini = _GEMINI.fullmatch(path)
    if gemini is not None:
        return ScriptedRequest(
            Dialect.GEMINI,
            gemini["model"],
            streams=gemini["method"] == "streamGenerateContent",
            wants_usage=True,
            as_events="alt=sse" in query,
            turns=sum(each.get("role") == "model" for each in _objects(body.get("contents"))),
            tools=_gemini_tools(body),
        )
    dialect = next((each for ending, each in _ENDINGS.items() if path.endswith(ending)), None)
    if dialect is None:
        return None
    return ScriptedRequest(
        dialect,
        str(body.get("model")),
        streams=bool(body.get("stream")),
        wants_usage=bool(_mapping(body.get("stream_options")).get("include_usage")),
        as_events=True,
        turns=_answers(_objects(body.get("messages")) or _objects(body.get("input"))),
        tools=_tools(body),
    )


def _answers(items: Sequence[Mapping[str, Any]]) -> int:
    turns, answering = 0, False
    for item in items:
        is_answer = item.get("role") == "assistant" or item.get("type") in _ANSWERS
        turns += is_answer and not answering
        answering = is_answer
    return turns


def _tools(body: Mapping[str, Any]) -> tuple[OfferedTool, ...]:
    found: list[OfferedTool] = []
    for each in _objects(body.get("tools")):
        tool = _mapping(each.get("function")) or each
        schema = _mapping(tool.get("parameters")) or _mapping(tool.get("input_schema"))
        if each.get("type", "function") in ("function", "custom") and isinstance(tool.get("name"), str):
            found.append(OfferedTool(tool["name"], schema))
    return tuple(found)


def _gemini_tools(body: Mapping[str, Any]) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(str(each.get("name")), _lower_types(_schema(each)))
        for group in _objects(body.get("tools"))
        for each in _objects(group.get("functionDeclarations"))
    )


def _schema(declaration: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(declaration.get("parametersJsonSchema")) or _mapping(declaration.get("parameters"))


def _lower_types(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Gemini's own schemas write types in upper case."""
    known = _mapping(schema.get("properties"))
    properties = {
        name: {**_mapping(value), "type": str(_mapping(value).get("type", "")).lower()}
        for name, value in known.items()
    }
    return {**schema, "properties": properties}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    items: list[object] = cast("list[object]", value) if isinstance(value, list) else []
    return [_mapping(each) for each in items]
