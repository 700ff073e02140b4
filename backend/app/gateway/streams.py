"""Measures an answer while it streams past, and detects whether it is complete."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from app.agents.gateway_port import Dialect
from app.gateway.usage_reading import Consumption, Tokens, anthropic_tokens, member, read_answer

MAX_EVENT_BYTES = 16_000_000
"""Limit on one line, and on a list that is read as a whole. Anything longer passes through unmeasured."""


@dataclass(slots=True)
class StreamMeter:
    """Reads Server-Sent Events as they pass, in pieces of any size.

    Attributes:
        dialect: of the stream.
        consumption: what the stream has reported so far.
        finished: True once the stream says that it is complete.
        error: the object of the error that the stream reported.
    """

    dialect: Dialect
    consumption: Consumption = field(default_factory=Consumption)
    finished: bool = False
    error: Mapping[str, Any] | None = None
    _line: bytearray = field(default_factory=bytearray)
    _overlong: bool = False
    _usage: dict[str, Any] = field(default_factory=dict[str, Any])

    def feed(self, piece: bytes) -> None:
        """Read the next piece of the stream."""
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._append(line)
            self._end_line()
        self._append(rest)

    def end(self) -> None:
        """Handle the end of the stream, which may lack the last line break."""
        self._end_line()

    def _append(self, part: bytes) -> None:
        if len(self._line) + len(part) > MAX_EVENT_BYTES:
            self._overlong = True
            self._line.clear()
        if not self._overlong:
            self._line += part

    def _end_line(self) -> None:
        line = bytes(self._line)
        self._line.clear()
        if not self._overlong:
            self._read(line)
        self._overlong = False

    def _read(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.finished = True
        elif self.consumption.model is None or _MARKS[self.dialect].search(data):
            self._take(_object(data))

    def _take(self, event: Mapping[str, Any]) -> None:
        said = read_answer(self.dialect, event)
        tokens = said.tokens
        if self.dialect is Dialect.ANTHROPIC:
            # The first event reports the input, later ones the output. Each number is valid until a newer
            # one.
            words = {**member(member(event, "message"), "usage"), **member(event, "usage")}
            self._usage |= {name: value for name, value in words.items() if value is not None}
            tokens = anthropic_tokens(self._usage)
        before = self.consumption
        self.consumption = Consumption(
            said.model or before.model,
            tokens if tokens != Tokens() else before.tokens,
            said.billed if said.billed is not None else before.billed,
        )
        self.finished = self.finished or _ENDINGS[self.dialect](event)
        self.error = self.error or _error(event)


_MARKS: Mapping[Dialect, re.Pattern[bytes]] = {
    Dialect.OPENAI_CHAT: re.compile(rb'"usage":\s*\{|"error"|"finish_reason":\s*"'),
    Dialect.OPENAI_RESPONSES: re.compile(
        rb'"usage":\s*\{|"error"|"response\.(?:completed|incomplete|failed)"'
    ),
    Dialect.ANTHROPIC: re.compile(rb'"usage"|"error"|"message_stop"'),
    Dialect.GEMINI: re.compile(rb'"usageMetadata"|"error"|"finishReason"|"blockReason"'),
}
"""Parts of the events that matter. The others, which are most, are not parsed."""


def _chat_ends(event: Mapping[str, Any]) -> bool:
    return any(each.get("finish_reason") for each in _objects(event.get("choices")))


def _responses_end(event: Mapping[str, Any]) -> bool:
    return event.get("type") in ("response.completed", "response.incomplete", "response.failed")


def _message_ends(event: Mapping[str, Any]) -> bool:
    return event.get("type") == "message_stop"


def _gemini_ends(event: Mapping[str, Any]) -> bool:
    refused = member(event, "promptFeedback").get("blockReason")
    return bool(refused) or any(each.get("finishReason") for each in _objects(event.get("candidates")))


_ENDINGS: Mapping[Dialect, Callable[[Mapping[str, Any]], bool]] = {
    Dialect.OPENAI_CHAT: _chat_ends,
    Dialect.OPENAI_RESPONSES: _responses_end,
    Dialect.ANTHROPIC: _message_ends,
    Dialect.GEMINI: _gemini_ends,
}


def _error(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    failed = event.get("type") == "response.failed"
    error: object = (member(event, "response") if failed else event).get("error")
    if not error:
        return event if event.get("type") == "error" else None
    return cast("Mapping[str, Any]", error) if isinstance(error, Mapping) else {"message": str(error)}


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        content: object = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", content) if isinstance(content, dict) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    items: list[object] = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", each) for each in items if isinstance(each, Mapping)]


@dataclass(slots=True)
class ListMeter:
    """Reads an answer that is one JSON document: an object, or Gemini's list of the parts of a stream.

    It has the same interface as `StreamMeter`, but knows nothing before the end of the answer.
    """

    dialect: Dialect
    consumption: Consumption = field(default_factory=Consumption)
    finished: bool = False
    error: Mapping[str, Any] | None = None
    _content: bytearray = field(default_factory=bytearray)
    _overlong: bool = False

    def feed(self, piece: bytes) -> None:
        """Read the next piece of the answer."""
        self._overlong = self._overlong or len(self._content) + len(piece) > MAX_EVENT_BYTES
        if self._overlong:
            self._content.clear()
        else:
            self._content += piece

    def end(self) -> None:
        """Parse the whole answer."""
        if self._overlong:
            self.finished = True
            return
        try:
            content: object = json.loads(bytes(self._content))
        except (ValueError, RecursionError):
            return
        self.finished = True
        for part in _objects(content) or _objects([content]):
            said = read_answer(self.dialect, part)
            tokens = said.tokens if said.tokens != Tokens() else self.consumption.tokens
            self.consumption = Consumption(said.model or self.consumption.model, tokens, said.billed)
            self.error = self.error or _error(part)


Meter = StreamMeter | ListMeter


def meter_for(dialect: Dialect, content_type: str) -> Meter:
    """Return the meter for an answer of a content type."""
    is_events = content_type.partition(";")[0].strip().lower() == "text/event-stream"
    return StreamMeter(dialect) if is_events else ListMeter(dialect)
