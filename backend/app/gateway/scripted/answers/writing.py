"""Writes the scripted model's output as a whole answer or as a stream, in any dialect."""

import json
from collections.abc import Callable, Iterator, Mapping

from app.agents.gateway_port import Dialect
from app.gateway.scripted.answers import anthropic, gemini, openai_chat, openai_responses
from app.gateway.scripted.answers.answer import Content, Scripted

_WHOLE: Mapping[Dialect, Callable[[Scripted], Content]] = {
    Dialect.OPENAI_CHAT: openai_chat.whole,
    Dialect.OPENAI_RESPONSES: openai_responses.whole,
    Dialect.ANTHROPIC: anthropic.whole,
    Dialect.GEMINI: gemini.whole,
}
_STREAMS: Mapping[Dialect, Callable[[Scripted], Iterator[Content]]] = {
    Dialect.OPENAI_CHAT: openai_chat.stream,
    Dialect.OPENAI_RESPONSES: openai_responses.stream,
    Dialect.ANTHROPIC: anthropic.stream,
    Dialect.GEMINI: gemini.stream,
}


def whole_answer(answer: Scripted) -> Content:
    """Return the answer as one document."""
    return _WHOLE[answer.request.dialect](answer)


def stream(answer: Scripted) -> list[bytes]:
    """Return the answer as the events of a stream, ready to be sent."""
    contents = list(_STREAMS[answer.request.dialect](answer))
    if answer.request.dialect is Dialect.GEMINI and not answer.request.as_events:
        return [(b"[" if at == 0 else b",") + _json(each) for at, each in enumerate(contents)] + [b"]"]
    named = answer.request.dialect in (Dialect.ANTHROPIC, Dialect.OPENAI_RESPONSES)
    events = [_event(each, named=named) for each in contents]
    return [*events, b"data: [DONE]\n\n"] if answer.request.dialect is Dialect.OPENAI_CHAT else events


def _json(content: Content) -> bytes:
    return json.dumps(content).encode()


def _event(content: Content, *, named: bool) -> bytes:
    name = f"event: {content['type']}\n".encode() if named else b""
    return name + b"data: " + _json(content) + b"\n\n"
