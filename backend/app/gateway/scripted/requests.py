"""Reads requests to the scripted model in any dialect: the offered tools, and the number of turns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.agents.gateway_port import Dialect
from app.gateway.scripted.conversation import ConversationLine, mapping, objects, read_conversation, turns_of
from app.gateway.scripted.script import OfferedTool

_GEMINI = re.compile(r".*/models/(?P<model>.+):(?P<method>generateContent|streamGenerateContent)")
_ENDINGS: Mapping[str, Dialect] = {
    "/chat/completions": Dialect.OPENAI_CHAT,
    "/responses": Dialect.OPENAI_RESPONSES,
    "/messages": Dialect.ANTHROPIC,
}


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """The parts of a request that the scripted model uses.

    Attributes:
        dialect: the request's dialect.
        model: the requested name.
        streams: True if the answer streams.
        wants_usage: True if a chat stream ends with its usage.
        as_events: True if a stream consists of events; otherwise it is Gemini's list.
        tools: the tools that it may call.
        lines: the conversation so far.
    """

    dialect: Dialect
    model: str
    streams: bool
    wants_usage: bool
    as_events: bool
    tools: tuple[OfferedTool, ...]
    lines: tuple[ConversationLine, ...]

    @property
    def turns(self) -> int:
        """How often the model has spoken in the conversation."""
        return turns_of(self.lines)


def read_request(path: str, query: str, body: Mapping[str, Any]) -> ScriptedRequest | None:
    """Read a request for an answer.

    Return None for any other path. A prefix before the known path is ignored.
    """
    gemini = _GEMINI.fullmatch(path)
    if gemini is not None:
        return ScriptedRequest(
            Dialect.GEMINI,
            gemini["model"],
            streams=gemini["method"] == "streamGenerateContent",
            wants_usage=True,
            as_events="alt=sse" in query,
            tools=_gemini_tools(body),
            lines=read_conversation(Dialect.GEMINI, body),
        )
    dialect = next((each for ending, each in _ENDINGS.items() if path.endswith(ending)), None)
    if dialect is None:
        return None
    return ScriptedRequest(
        dialect,
        str(body.get("model")),
        streams=bool(body.get("stream")),
        wants_usage=bool(mapping(body.get("stream_options")).get("include_usage")),
        as_events=True,
        tools=_tools(body),
        lines=read_conversation(dialect, body),
    )


def _tools(body: Mapping[str, Any]) -> tuple[OfferedTool, ...]:
    found: list[OfferedTool] = []
    for each in objects(body.get("tools")):
        tool = mapping(each.get("function")) or each
        schema = mapping(tool.get("parameters")) or mapping(tool.get("input_schema"))
        if each.get("type", "function") in ("function", "custom") and isinstance(tool.get("name"), str):
            found.append(OfferedTool(tool["name"], schema))
    return tuple(found)


def _gemini_tools(body: Mapping[str, Any]) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(str(each.get("name")), _lower_types(_schema(each)))
        for group in objects(body.get("tools"))
        for each in objects(group.get("functionDeclarations"))
    )


def _schema(declaration: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(declaration.get("parametersJsonSchema")) or mapping(declaration.get("parameters"))


def _lower_types(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with its types in lower case. Gemini's own schemas write them in upper case."""
    known = mapping(schema.get("properties"))
    properties = {
        name: {**mapping(value), "type": str(mapping(value).get("type", "")).lower()}
        for name, value in known.items()
    }
    return {**schema, "properties": properties}
