"""Writes what the scripted model says as a whole answer or as a stream, in any dialect."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.agents.gateway_port import Dialect
from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Spoken

_CREATED = 1_700_000_000
_PIECE_CHARS = 12

Content = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turnover:
    """Tokens that each answer reports; `input` includes the cached ones."""

    input: int = 2000
    output: int = 100
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Scripted:
    """One answer: to what, saying what, reporting which usage, and with which number."""

    request: ScriptedRequest
    spoken: Spoken
    usage: Turnover
    number: int

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return self.request.model

    @property
    def call_id(self) -> str:
        """Name of the tool call."""
        return f"call_scripted_{self.number}"

    @property
    def arguments(self) -> str:
        """The tool call's arguments as JSON."""
        return json.dumps(self.spoken.arguments or {})

    def pieces(self) -> list[str]:
        """The words in pieces, as they stream."""
        text = self.spoken.text
        return [text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS)]


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


def _chat_usage(usage: Turnover) -> Content:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _chat_call(answer: Scripted) -> Content:
    function = {"name": answer.spoken.tool, "arguments": answer.arguments}
    return {"id": answer.call_id, "type": "function", "function": function}


def _chat(answer: Scripted) -> Content:
    message: Content = {"role": "assistant", "content": answer.spoken.text or None}
    if answer.spoken.tool:
        message["tool_calls"] = [_chat_call(answer)]
    choice = {"index": 0, "message": message, "finish_reason": _chat_ending(answer)}
    return {**_chat_head(answer, "chat.completion"), "choices": [choice], "usage": _chat_usage(answer.usage)}


def _chat_ending(answer: Scripted) -> str:
    return "tool_calls" if answer.spoken.tool else "stop"


def _chat_head(answer: Scripted, kind: str) -> Content:
    return {
        "id": f"scripted-{answer.number}",
        "object": kind,
        "created": _CREATED,
        "model": answer.model,
        "system_fingerprint": "scripted",
    }


def _chat_stream(answer: Scripted) -> Iterator[Content]:
    head = _chat_head(answer, "chat.completion.chunk")

    def chunk(delta: Content, ending: str | None = None) -> Content:
        choice = {"index": 0, "delta": delta, "finish_reason": ending}
        return {**head, "choices": [choice], **({"usage": None} if answer.request.wants_usage else {})}

    yield chunk({"role": "assistant", "content": ""})
    for piece in answer.pieces():
        yield chunk({"content": piece})
    if answer.spoken.tool:
        yield chunk({"tool_calls": [{"index": 0, **_chat_call(answer)}]})
    yield chunk({}, _chat_ending(answer))
    if answer.request.wants_usage:
        yield {**head, "choices": [], "usage": _chat_usage(answer.usage)}


def _responses_usage(usage: Turnover) -> Content:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }


def _responses_head(answer: Scripted, status: str, output: list[Content]) -> Content:
    return {
        "id": f"resp_scripted_{answer.number}",
        "object": "response",
        "created_at": _CREATED,
        "status": status,
        "model": answer.model,
        "output": output,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "temperature": None,
        "top_p": None,
        "tool_choice": "auto",
        "tools": [],
        "usage": _responses_usage(answer.usage) if status == "completed" else None,
    }


def _responses_item(answer: Scripted, *, filled: bool = True) -> Content:
    status = "completed" if filled else "in_progress"
    if answer.spoken.tool:
        return {
            "id": f"fc_scripted_{answer.number}",
            "type": "function_call",
            "status": status,
            "call_id": answer.call_id,
            "name": answer.spoken.tool,
            "arguments": answer.arguments if filled else "",
        }
    content = [_text_part(answer.spoken.text)] if filled else []
    name = f"msg_scripted_{answer.number}"
    return {"id": name, "type": "message", "status": status, "role": "assistant", "content": content}


def _text_part(text: str) -> Content:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _responses(answer: Scripted) -> Content:
    return _responses_head(answer, "completed", [_responses_item(answer)])


def _responses_stream(answer: Scripted) -> Iterator[Content]:
    for number, event in enumerate(_responses_events(answer)):
        yield {**event, "sequence_number": number}


def _responses_events(answer: Scripted) -> Iterator[Content]:
    item = _responses_item(answer)
    place = {"item_id": item["id"], "output_index": 0}
    part = {**place, "content_index": 0}
    begun = _responses_head(answer, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    added = _responses_item(answer, filled=False)
    yield {"type": "response.output_item.added", "output_index": 0, "item": added}
    if answer.spoken.tool:
        yield {"type": "response.function_call_arguments.delta", **place, "delta": answer.arguments}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": answer.arguments}
    else:
        yield {"type": "response.content_part.added", **part, "part": _text_part("")}
        for piece in answer.pieces():
            yield {"type": "response.output_text.delta", **part, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **part, "text": answer.spoken.text, "logprobs": []}
        yield {"type": "response.content_part.done", **part, "part": _text_part(answer.spoken.text)}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": _responses(answer)}


def _message_usage(usage: Turnover, *, output: int) -> Content:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    }


def _message_block(answer: Scripted, *, filled: bool = True) -> Content:
    if answer.spoken.tool:
        given = dict(answer.spoken.arguments or {}) if filled else {}
        return {"type": "tool_use", "id": answer.call_id, "name": answer.spoken.tool, "input": given}
    return {"type": "text", "text": answer.spoken.text if filled else ""}


def _message_head(answer: Scripted, content: list[Content], ending: str | None, output: int) -> Content:
    return {
        "id": f"msg_scripted_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": ending,
        "stop_sequence": None,
        "usage": _message_usage(answer.usage, output=output),
    }


def _message_ending(answer: Scripted) -> str:
    return "tool_use" if answer.spoken.tool else "end_turn"


def _message(answer: Scripted) -> Content:
    return _message_head(answer, [_message_block(answer)], _message_ending(answer), answer.usage.output)


def _message_stream(answer: Scripted) -> Iterator[Content]:
    yield {"type": "message_start", "message": _message_head(answer, [], None, 1)}
    block = _message_block(answer, filled=False)
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    if answer.spoken.tool:
        delta = {"type": "input_json_delta", "partial_json": answer.arguments}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    for piece in answer.pieces():
        delta = {"type": "text_delta", "text": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": _message_ending(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": answer.usage.output}}
    yield {"type": "message_stop"}


def _gemini(answer: Scripted) -> Content:
    return _gemini_part(answer, _gemini_content(answer), ending=True)


def _gemini_content(answer: Scripted) -> Content:
    if answer.spoken.tool:
        return {"functionCall": {"name": answer.spoken.tool, "args": dict(answer.spoken.arguments or {})}}
    return {"text": answer.spoken.text}


def _gemini_part(answer: Scripted, part: Content, *, ending: bool) -> Content:
    candidate: Content = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if ending:
        candidate["finishReason"] = "STOP"
    output = answer.usage.output if ending else 1
    usage = {
        "promptTokenCount": answer.usage.input,
        "cachedContentTokenCount": answer.usage.cached,
        "candidatesTokenCount": output,
        "totalTokenCount": answer.usage.input + output,
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": answer.model}


def _gemini_stream(answer: Scripted) -> Iterator[Content]:
    if answer.spoken.tool:
        yield _gemini(answer)
        return
    for piece in answer.pieces():
        yield _gemini_part(answer, {"text": piece}, ending=False)
    yield _gemini_part(answer, {"text": ""}, ending=True)


_WHOLE: Mapping[Dialect, Callable[[Scripted], Content]] = {
    Dialect.OPENAI_CHAT: _chat,
    Dialect.OPENAI_RESPONSES: _responses,
    Dialect.ANTHROPIC: _message,
    Dialect.GEMINI: _gemini,
}
_STREAMS: Mapping[Dialect, Callable[[Scripted], Iterator[Content]]] = {
    Dialect.OPENAI_CHAT: _chat_stream,
    Dialect.OPENAI_RESPONSES: _responses_stream,
    Dialect.ANTHROPIC: _message_stream,
    Dialect.GEMINI: _gemini_stream,
}
