"""Reads the conversation in a request to the scripted model: speakers and texts, in any dialect."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, cast

from app.agents.gateway_port import Dialect

_ANSWERS = frozenset({"function_call", "local_shell_call", "custom_tool_call", "reasoning"})


class Speaker(StrEnum):
    """The speaker of an entry. `OTHER` covers tools and the agent's system prompt."""

    USER = "user"
    MODEL = "model"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """One entry of a conversation. The text is empty if there is none, as in a tool call."""

    speaker: Speaker
    text: str = ""


def read_conversation(dialect: Dialect, body: Mapping[str, Any]) -> tuple[ConversationLine, ...]:
    """Return the entries of a conversation in order."""
    if dialect is Dialect.GEMINI:
        return tuple(_line(each, "model", each.get("parts")) for each in objects(body.get("contents")))
    given: object = body.get("input") if dialect is Dialect.OPENAI_RESPONSES else body.get("messages")
    if isinstance(given, str):
        return (ConversationLine(Speaker.USER, given),)
    return tuple(_line(each, "assistant", each.get("content")) for each in objects(given))


def turns_of(lines: Sequence[ConversationLine]) -> int:
    """Count how often the model has spoken. Several entries in a row are one turn."""
    speakers = [Speaker.OTHER, *(each.speaker for each in lines)]
    return sum(
        speaker is Speaker.MODEL and before is not Speaker.MODEL for before, speaker in pairwise(speakers)
    )


def _line(entry: Mapping[str, Any], model: str, content: object) -> ConversationLine:
    text = "\n".join(_texts(content))
    if entry.get("role") == model or entry.get("type") in _ANSWERS:
        return ConversationLine(Speaker.MODEL, text)
    # In some dialects a tool's result has the user's role. Such an entry holds no other text.
    return ConversationLine(Speaker.USER if entry.get("role") == "user" and text else Speaker.OTHER, text)


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in objects(content):
        if isinstance(part.get("text"), str):
            yield part["text"]


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the entries of a JSON list as objects, or an empty list for anything else."""
    items: list[object] = cast("list[object]", value) if isinstance(value, list) else []
    return [mapping(each) for each in items]
