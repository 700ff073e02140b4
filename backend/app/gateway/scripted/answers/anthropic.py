"""Writes the scripted model's output as Anthropic's messages, whole or as a stream."""

from collections.abc import Iterator

from app.gateway.scripted.answers.answer import Content, Scripted, Turnover


def whole(answer: Scripted) -> Content:
    """Return the answer as one document."""
    return _head(answer, [_block(answer)], _ending(answer), answer.usage.output)


def stream(answer: Scripted) -> Iterator[Content]:
    """Yield the contents of the stream's events."""
    yield {"type": "message_start", "message": _head(answer, [], None, 1)}
    block = _block(answer, filled=False)
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    if answer.spoken.tool:
        delta = {"type": "input_json_delta", "partial_json": answer.arguments}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    for piece in answer.pieces():
        delta = {"type": "text_delta", "text": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": _ending(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": answer.usage.output}}
    yield {"type": "message_stop"}


def _usage(usage: Turnover, *, output: int) -> Content:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    }


def _block(answer: Scripted, *, filled: bool = True) -> Content:
    if answer.spoken.tool:
        given = dict(answer.spoken.arguments or {}) if filled else {}
        return {"type": "tool_use", "id": answer.call_id, "name": answer.spoken.tool, "input": given}
    return {"type": "text", "text": answer.spoken.text if filled else ""}


def _head(answer: Scripted, content: list[Content], ending: str | None, output: int) -> Content:
    return {
        "id": f"msg_scripted_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": ending,
        "stop_sequence": None,
        "usage": _usage(answer.usage, output=output),
    }


def _ending(answer: Scripted) -> str:
    return "tool_use" if answer.spoken.tool else "end_turn"
